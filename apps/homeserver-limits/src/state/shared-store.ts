import { setTimeout as wait } from 'node:timers/promises';
import { FallbackRateLimiter, type MemoryRateLimiter } from '@headgate/limits-core';
import { RedisRateLimiter, type RedisRateLimiterOptions } from '@headgate/limits-redis';
import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import type { Logger } from 'pino';
import { ConfigError } from '@headgate/nest-kit';
import { readNamedFile } from '../config/read-file.js';
import type { SharedSection } from '../config/shared.section.js';

/** How long the start waits for the server before this gateway counts on its own. */
const CONNECT_TIMEOUT_MS = 2_000;
const RETRY_MS = 20;
/** The interval of health checks, which keep the log and the metric correct without traffic. */
const HEALTH_CHECK_MS = 1_000;
/** Not the key of any caller: those are never empty. */
const HEALTH_CHECK_KEY = '';
/** The environment variable of the secret that keys the digests of names and addresses, instead of a file. */
const SECRET_VARIABLE = 'LIMITS_SHARED_SECRET';
const MIN_SECRET_LENGTH = 16;

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
    this.server = RedisRateLimiter.open(optionsOf(section, process.env[SECRET_VARIABLE]));
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

function optionsOf(section: Readonly<SharedSection>, secretInEnvironment: string | undefined): RedisRateLimiterOptions {
  const { url, cluster, sentinel, username, password_file, ca_file, prefix, timeout_ms: timeoutMs } = section;
  const secret = secretOf(section, secretInEnvironment);
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

function secretOf({ secret_file }: Readonly<SharedSection>, inEnvironment = ''): string | undefined {
  if (secret_file === undefined && inEnvironment === '') return undefined;
  if (secret_file !== undefined && inEnvironment !== '') {
    throw new ConfigError('configuration', [`shared.secret_file and ${SECRET_VARIABLE} both have a secret`]);
  }
  const secret = secret_file === undefined ? inEnvironment : firstLineOf(secret_file);
  if (secret.length >= MIN_SECRET_LENGTH) return secret;
  const source = secret_file ?? SECRET_VARIABLE;
  throw new ConfigError(source, [`the secret must be at least ${MIN_SECRET_LENGTH} characters`]);
}

const firstLineOf = (path: string): string => readNamedFile(path).split(/\r?\n/, 1)[0] ?? '';
