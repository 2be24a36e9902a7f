import type { IncomingHttpHeaders } from 'node:http';
import { DomainError } from '@headgate/domain-contracts';
import { ListenAddress } from '@headgate/nest-kit';

export interface EdgePolicyOptions {
  /** The listen address, HOST:PORT. */
  readonly listen: string;
  /** Further Host headers, with or without a port. */
  readonly allowedHosts: readonly string[];
  /** Present: the service speaks TLS only. */
  readonly tls?: { readonly acme?: { readonly domains: readonly string[] } | undefined } | undefined;
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Whether the page of a browser may use this service. The Host header must be one of ours, which prevents DNS
 * rebinding, and the Origin of a change must be our own page.
 */
export class EdgePolicy {
  private readonly hosts: ReadonlySet<string>;
  /** A proxy may speak TLS for a service without. */
  private readonly schemes: readonly string[];

  constructor({ listen, allowedHosts, tls }: EdgePolicyOptions) {
    this.schemes = tls ? ['https'] : ['http', 'https'];
    const { isWildcard, urlHost } = ListenAddress.parse(listen);
    this.hosts = new Set(
      [...LOOPBACK, ...(isWildcard ? [] : [urlHost]), ...allowedHosts, ...(tls?.acme?.domains ?? [])].map((host) =>
        host.toLowerCase(),
      ),
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
  checkOrigin({ origin, host, 'sec-fetch-site': site }: IncomingHttpHeaders): void {
    // Browsers set it themselves, also where they send no Origin. `none` is a request of the user, such as a bookmark.
    if (site !== undefined && site !== 'same-origin' && site !== 'none') throw foreignOrigin();
    if (origin === undefined) return;
    const own = (host ?? '').toLowerCase();
    const given = origin.toLowerCase();
    if (this.schemes.some((scheme) => given === `${scheme}://${own}`)) return;
    throw foreignOrigin();
  }

  /**
   * A session is in a cookie, which browsers also send for others: the request must be known to come from our page.
   * @throws DomainError FOREIGN_ORIGIN
   */
  checkOwnPage(headers: IncomingHttpHeaders): void {
    this.checkOrigin(headers);
    if (headers.origin === undefined && headers['sec-fetch-site'] !== 'same-origin') throw foreignOrigin();
  }

  /** Links to this service are fine, but no other site may load anything from it. @throws DomainError FOREIGN_ORIGIN */
  checkRead({ 'sec-fetch-site': site, 'sec-fetch-mode': mode }: IncomingHttpHeaders): void {
    if (site === 'cross-site' && mode !== 'navigate') throw foreignOrigin();
  }
}

/** `example.org:80` → `example.org`, `[::1]:80` → `[::1]` */
export const hostName = (host: string): string => host.replace(/:\d+$/, '');

const foreignOrigin = (): DomainError =>
  new DomainError('FOREIGN_ORIGIN', 'The request comes from a page that is not the page of this service.');
