import { setTimeout as wait } from 'node:timers/promises';
import { FallbackRateLimiter, type MemoryRateLimiter } from '@headgate/limits-core';
import { RedisRateLimiter, type RedisRateLimiterOptions } from '@headgate/limits-redis';
import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import type { Logger } from 'pino';
import { readNamedFile } from '../config/read-file.js';
import { firstLineOf, sharedSecret } from '../config/shared-secret.js';
import type { SharedSection } from '../config/shared.section.js';

/** How long the start waits for the server before this gateway counts on its own. */
const CONNECT_TIMEOUT_MS = 2_000;
const RETRY_MS = 20;
/** The interval of health checks, which keep the log and the metric correct without traffic. */
const HEALTH_CHECK_MS = 1_000;
/** Not the key of any caller: those are never empty. */
const HEALTH_CHECK_KEY = '';

/**
 * Windows on a server that several gateways share, with a fallback to this gateway's own while the server is
 * unavailable.
 */
export class SharedStore implements OnModuleInit, OnApplicationShutdown {
  readonly windows: FallbackRateLimiter;
  private readonly server: RedisRateLimiter;
  private healthCheck?: NodeJS.Timeout;

  /**
   * @throws ConfigError that names a file that cannot be read, or a secret that is too short. It never contains the
   *   secret.
   */
  constructor(
    section: Readonly<SharedSection>,
    private readonly own: MemoryRateLimiter,
    private readonly log: Logger,
  ) {
    this.server = RedisRateLimiter.open(optionsOf(section));
    this.windows = new FallbackRateLimiter(this.server, own, { onChange: (error) => this.logChange(error) });
  }

  /** Whether the shared windows decide, not this gateway's own. */
  readonly inUse = (): boolean => !this.windows.isDegraded;

  async onModuleInit(): Promise<void> {
    await this.connect();
    await this.checkHealth();
    this.healthCheck = setInterval(() => void this.checkHealth(), HEALTH_CHECK_MS);
    this.healthCheck.unref();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.healthCheck);
    await this.server.close();
  }

  /** Without this wait, the first requests would be counted by this gateway alone. */
  private async connect(): Promise<void> {
    const end = performance.now() + CONNECT_TIMEOUT_MS;
    while (performance.now() < end) {
      const isUp = await this.server.ping().then(
        () => true,
        () => false,
      );
      if (isUp) return;
      await wait(RETRY_MS);
    }
  }

  /** Reserves and releases, because a server may respond and still refuse writes. */
  private async checkHealth(): Promise<void> {
    const [rate] = this.own.rates;
    const reservation = rate && (await this.windows.reserve([{ rate, key: HEALTH_CHECK_KEY }]));
    if (reservation?.granted) await reservation.release();
  }

  private logChange(error: unknown): void {
    if (error === undefined) this.log.info('the shared windows are available again: all gateways count together');
    else this.log.warn({ err: error }, 'the shared windows are unavailable: this gateway counts on its own');
  }
}

function optionsOf(section: Readonly<SharedSection>): RedisRateLimiterOptions {
  const { url, cluster, sentinel, username, password_file, ca_file, prefix, timeout_ms: timeoutMs } = section;
  const secret = sharedSecret(section);
  return {
    prefix,
    timeoutMs,
    ...(url !== undefined && { url }),
    ...(cluster && { cluster: { nodes: cluster } }),
    ...(sentinel && { sentinel }),
    ...(username !== undefined && { username }),
    ...(password_file !== undefined && { password: firstLineOf(password_file) }),
    ...(secret !== undefined && { secret }),
    ...(ca_file !== undefined && { tls: { ca: readNamedFile(ca_file) } }),
  };
}
