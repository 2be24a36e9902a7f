import type { IncomingHttpHeaders } from 'node:http';
import { DomainError } from '@headgate/domain-contracts';

export interface EdgePolicyOptions {
  /** HOST:PORT that the service listens on. */
  readonly listen: string;
  /** Further Host headers, with or without a port. */
  readonly allowedHosts: readonly string[];
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Whether a browser's page may talk to this service: the Host header must be one of ours, so that nobody's DNS name can
 * be bent onto it, and the Origin of what changes state must be our own page.
 */
export class EdgePolicy {
  private readonly hosts: ReadonlySet<string>;

  constructor({ listen, allowedHosts }: EdgePolicyOptions) {
    const own = hostName(listen);
    const wildcard = own === '0.0.0.0' || own === '[::]';
    this.hosts = new Set([...LOOPBACK, ...(wildcard ? [] : [own]), ...allowedHosts].map((host) => host.toLowerCase()));
  }

  /** @throws DomainError UNKNOWN_HOST */
  checkHost({ host }: IncomingHttpHeaders): void {
    const given = (host ?? '').toLowerCase();
    if (this.hosts.has(given) || this.hosts.has(hostName(given))) return;
    throw new DomainError(
      'UNKNOWN_HOST',
      `The Host header is not one of this service's; allow it with SVC_ALLOWED_HOSTS.`,
    );
  }

  /** No Origin is no browser's page. @throws DomainError FOREIGN_ORIGIN */
  checkOrigin({ origin, host }: IncomingHttpHeaders): void {
    if (origin === undefined) return;
    const own = (host ?? '').toLowerCase();
    const given = origin.toLowerCase();
    if (given === `http://${own}` || given === `https://${own}`) return;
    throw new DomainError('FOREIGN_ORIGIN', "The Origin header is another page than this service's own.");
  }
}

/** `example.org:80` → `example.org`, `[::1]:80` → `[::1]` */
const hostName = (host: string): string => host.replace(/:\d+$/, '');
