import type { IncomingHttpHeaders } from 'node:http';
import { DomainError } from '@headgate/domain-contracts';
import { ListenAddress } from '@headgate/nest-kit';

export interface EdgePolicyOptions {
  /** The listen address, HOST:PORT. */
  readonly listen: string;
  /** Further Host headers, with or without a port. */
  readonly allowedHosts: readonly string[];
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Whether the page of a browser may use this service. The Host header must be one of ours, which prevents DNS rebinding, and the
 * Origin of a change must be our own page.
 */
export class EdgePolicy {
  private readonly hosts: ReadonlySet<string>;

  constructor({ listen, allowedHosts }: EdgePolicyOptions) {
    const { isWildcard, urlHost } = ListenAddress.parse(listen);
    this.hosts = new Set(
      [...LOOPBACK, ...(isWildcard ? [] : [urlHost]), ...allowedHosts].map((host) => host.toLowerCase()),
    );
  }

  /** @throws DomainError UNKNOWN_HOST */
  checkHost({ host }: IncomingHttpHeaders): void {
    const given = (host ?? '').toLowerCase();
    if (this.hosts.has(given) || this.hosts.has(hostName(given))) return;
    throw new DomainError(
      'UNKNOWN_HOST',
      `The Host header is not a name of this service; allow it with SVC_ALLOWED_HOSTS.`,
    );
  }

  /** A request without an Origin is not from a page. @throws DomainError FOREIGN_ORIGIN */
  checkOrigin({ origin, host }: IncomingHttpHeaders): void {
    if (origin === undefined) return;
    const own = (host ?? '').toLowerCase();
    const given = origin.toLowerCase();
    if (given === `http://${own}` || given === `https://${own}`) return;
    throw new DomainError('FOREIGN_ORIGIN', 'The Origin header is not the page of this service.');
  }
}

/** `example.org:80` → `example.org`, `[::1]:80` → `[::1]` */
const hostName = (host: string): string => host.replace(/:\d+$/, '');
