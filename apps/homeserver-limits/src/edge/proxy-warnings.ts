import type { Logger } from 'pino';

const INTERVAL_MS = 60_000;

/** Warns of settings of `trusted_proxies` that make limits useless: too few proxies, or everyone. */
export class ProxyWarnings {
  private readonly lastMs = new Map<string, number>();

  constructor(
    private readonly log: Pick<Logger, 'warn'>,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** A network of all addresses lets every caller choose an address. */
  checkTrusted(proxies: readonly string[]): void {
    const everyone = proxies.filter((proxy) => /\/0+$/.test(proxy));
    if (everyone.length === 0) return;
    this.log.warn(
      { trusted_proxies: everyone },
      'server.trusted_proxies trusts every address: callers can choose the address under which they are counted',
    );
  }

  /** Any caller may send the header, so it is reported once a minute. */
  ignoredHeader(peer: string): void {
    this.warnAtTimes(
      { peer },
      'X-Forwarded-For was ignored: if this peer is your proxy, add it to server.trusted_proxies, or all of its callers count as one',
    );
  }

  /** Reported once a minute. */
  refusedConnection(source: string): void {
    this.warnAtTimes(
      { source },
      'connections were closed, because their source has server.connections_per_source open: if it is your proxy, add it to server.trusted_proxies',
    );
  }

  private warnAtTimes(facts: object, message: string): void {
    const nowMs = this.now();
    if (nowMs - (this.lastMs.get(message) ?? -Infinity) < INTERVAL_MS) return;
    this.lastMs.set(message, nowMs);
    this.log.warn(facts, message);
  }
}
