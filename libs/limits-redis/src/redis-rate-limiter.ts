import { createHash, randomBytes } from 'node:crypto';
import {
  type Rate,
  type RateKey,
  type RateRefusal,
  type Reservation,
  SharedRateLimiter,
  type WindowState,
} from '@headgate/limits-core';
import { RedisConnection, type ServerOptions } from './redis-connection.js';
import { ACQUIRE, PEEK, SETTLE } from './scripts.js';

export interface RedisRateLimiterOptions extends ServerOptions {
  /** Precedes every key, in braces; `limits` by default. */
  readonly prefix?: string;
}

/** A rate limiter on a Redis or Valkey server (5 or newer). */
export class RedisRateLimiter extends SharedRateLimiter {
  private constructor(
    private readonly connection: RedisConnection,
    private readonly prefix: string,
  ) {
    super();
  }

  /**
   * Does not wait for the server: while it is unavailable, every call rejects and the connection is retried.
   * @throws TypeError when the URL is invalid, RangeError when the prefix is
   */
  static open({ prefix = 'limits', ...server }: RedisRateLimiterOptions): RedisRateLimiter {
    if (!/^[^{}]+$/.test(prefix)) throw new RangeError('The prefix must be a non-empty text without braces.');
    return new RedisRateLimiter(new RedisConnection(server), prefix);
  }

  async close(): Promise<void> {
    this.connection.close();
  }

  /** Resolves when the server answers; rejects if it does not do so in time. */
  async ping(): Promise<void> {
    await this.connection.run(['PING']);
  }

  override async count(rate: Rate, key: string, limit = rate.limit): Promise<RateRefusal | undefined> {
    const [refusing, wait] = await this.acquire('count', [{ rate, key, limit }]);
    return refusing === 0 ? undefined : refusal({ rate, key, limit }, wait as number);
  }

  override async reserve(keys: readonly RateKey[]): Promise<Reservation | RateRefusal> {
    const [refusing, timeOrWait, ...openings] = await this.acquire('reserve', keys);
    if (refusing !== 0) return refusal(keys[(refusing as number) - 1]!, timeOrWait as number);
    let open = true;
    const settle = async (settlement: 'commit' | 'reset' | 'release'): Promise<void> => {
      if (!open) return;
      open = false;
      const windows = keys.flatMap(({ rate }, index) => [String(rate.windowMs), String(openings[index])]);
      await this.connection.script(SETTLE, this.redisKeys(keys), [settlement, String(timeOrWait), ...windows]);
    };
    return {
      granted: true,
      commit: () => settle('commit'),
      reset: () => settle('reset'),
      release: () => settle('release'),
    };
  }

  override async peek(rate: Rate, key: string): Promise<WindowState> {
    const answer = await this.connection.script(PEEK, this.redisKeys([{ rate, key }]), []);
    const [counted, inFlight, left] = answer as [number, number, number];
    return { counted, inFlight, limit: rate.limit, closesInMs: Math.max(0, left), shared: false };
  }

  override async reset(rate: Rate, key: string): Promise<boolean> {
    return (await this.connection.run(['DEL', ...this.redisKeys([{ rate, key }])])) === 1;
  }

  private async acquire(mode: 'count' | 'reserve', keys: readonly RateKey[]): Promise<unknown[]> {
    const redisKeys = this.redisKeys(keys);
    if (new Set(redisKeys).size < redisKeys.length) {
      throw new RangeError('A reservation must not name the same key of a rate twice.');
    }
    const options = keys.flatMap(({ rate, limit = rate.limit }) => [String(limit), String(rate.windowMs)]);
    const opening = randomBytes(9).toString('base64url');
    return (await this.connection.script(ACQUIRE, redisKeys, [mode, opening, ...options])) as unknown[];
  }

  /** Digests, so that callers can't choose the size of a key and the server does not learn names and addresses. */
  private redisKeys(keys: readonly RateKey[]): string[] {
    return keys.map(({ rate, key }) => {
      const digest = createHash('sha256').update(key).digest('base64url').slice(0, 22);
      return `{${this.prefix}}:${rate.name}:${digest}`;
    });
  }
}

function refusal({ rate, limit = rate.limit }: RateKey, retryAfterMs: number): RateRefusal {
  return { granted: false, rate: rate.name, limit, retryAfterMs };
}
