import { createHash, createHmac, randomBytes } from 'node:crypto';
import {
  type CountedKey,
  type Rate,
  type RateKey,
  type RateRefusal,
  type Reservation,
  SharedRateLimiter,
  type WindowState,
  checkCountedKey,
} from '@headgate/limits-core';
import { type ConnectionOptions, RedisConnection } from './redis-connection.js';
import { ACQUIRE, PEEK, SETTLE } from './scripts.js';

export interface RedisRateLimiterOptions extends ConnectionOptions {
  /** Precedes every key, in braces; `limits` by default. */
  readonly prefix?: string;
  /**
   * Keys on the server are HMACs with this secret, so that names and addresses can't be found by guessing. All nodes
   * must have the same one. Without it, keys are plain digests.
   */
  readonly secret?: string;
}

/** A rate limiter on a Redis or Valkey server (5 or newer). */
export class RedisRateLimiter extends SharedRateLimiter {
  private readonly connection: RedisConnection;
  private readonly prefix: string;
  private readonly secret: string | undefined;
  /** In a cluster, each key has its own hash tag. */
  private readonly spreadsKeys: boolean;

  private constructor({ prefix = 'limits', secret, ...connection }: RedisRateLimiterOptions) {
    super();
    this.connection = new RedisConnection(connection);
    this.prefix = prefix;
    this.secret = secret;
    this.spreadsKeys = connection.cluster !== undefined;
  }

  /**
   * Does not wait for the server: while it is unavailable, every call rejects and the connection is retried.
   * @throws TypeError when the server's address is invalid, RangeError when the prefix or the secret is
   */
  static open(options: RedisRateLimiterOptions): RedisRateLimiter {
    const { prefix = 'limits', secret } = options;
    if (!/^[^{}]+$/.test(prefix)) throw new RangeError('The prefix must be a non-empty text without braces.');
    if (secret === '') throw new RangeError('The secret must not be empty.');
    return new RedisRateLimiter(options);
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

  override countAll(keys: readonly CountedKey[]): Promise<RateRefusal | undefined> {
    return this.spreadsKeys && keys.length > 1 ? this.countOneByOne(keys) : this.countTogether(keys);
  }

  private async countTogether(keys: readonly CountedKey[]): Promise<RateRefusal | undefined> {
    const [refusing, wait] = await this.acquire('count', keys);
    return refusing === 0 ? undefined : refusal(keys[(refusing as number) - 1]!, wait as number);
  }

  /**
   * Keys on different nodes of a cluster: those without a window of their own are reserved first, so that a refusal of
   * another one can release them; the others can't be reserved, and are counted in order.
   */
  private async countOneByOne(keys: readonly CountedKey[]): Promise<RateRefusal | undefined> {
    requireDistinct(this.redisKeys(keys));
    const isPlain = ({ windowMs }: CountedKey) => windowMs === undefined;
    const reservation = await this.reserveOneByOne(keys.filter(isPlain));
    if (!reservation.granted) return reservation;
    for (const key of keys.filter((one) => !isPlain(one))) {
      try {
        const refused = await this.countTogether([key]);
        if (!refused) continue;
        await reservation.release();
        return refused;
      } catch (error) {
        await Promise.resolve(reservation.release()).catch(() => undefined);
        throw error;
      }
    }
    await reservation.commit();
    return undefined;
  }

  override reserve(keys: readonly RateKey[]): Promise<Reservation | RateRefusal> {
    return this.spreadsKeys && keys.length > 1 ? this.reserveOneByOne(keys) : this.reserveTogether(keys);
  }

  /**
   * Keys on different nodes of a cluster have no common script. They are reserved in order, and released if a later one
   * refuses or fails. In between, they count for others, which errs on the side of refusing.
   */
  private async reserveOneByOne(keys: readonly RateKey[]): Promise<Reservation | RateRefusal> {
    requireDistinct(this.redisKeys(keys));
    const reservations: Reservation[] = [];
    const settleAll = async (settlement: 'commit' | 'reset' | 'release'): Promise<void> => {
      await Promise.all(reservations.map((reservation) => reservation[settlement]()));
    };
    for (const [index, key] of keys.entries()) {
      try {
        const answer = await this.reserveTogether([key]);
        if (!answer.granted) {
          await settleAll('release');
          return await this.longestWait(answer, keys.slice(index + 1));
        }
        reservations.push(answer);
      } catch (error) {
        // What can't be released either expires with its period.
        await settleAll('release').catch(() => undefined);
        throw error;
      }
    }
    return {
      granted: true,
      commit: () => settleAll('commit'),
      reset: () => settleAll('reset'),
      release: () => settleAll('release'),
    };
  }

  /** The refusal whose window closes last: the given one, or that of another key that has no room either. */
  private async longestWait(refused: RateRefusal, others: readonly RateKey[]): Promise<RateRefusal> {
    const refusals = await Promise.all(
      others.map(async (key) => {
        const { counted, inFlight, closesInMs } = await this.peek(key.rate, key.key);
        const { rate, limit = rate.limit, cost = 1 } = key;
        const price = Math.min(cost, limit);
        if (counted + inFlight + price <= limit) return refused;
        return refusal(key, Math.max(1, closesInMs - untilEmptyMs(rate, price)));
      }),
    );
    return refusals.reduce((longest, one) => (one.retryAfterMs > longest.retryAfterMs ? one : longest), refused);
  }

  private async reserveTogether(keys: readonly RateKey[]): Promise<Reservation | RateRefusal> {
    const [refusing, timeOrWait, ...openings] = await this.acquire('reserve', keys);
    if (refusing !== 0) return refusal(keys[(refusing as number) - 1]!, timeOrWait as number);
    const terms = keys.map(termsOf);
    let open = true;
    const settle = async (settlement: 'commit' | 'reset' | 'release'): Promise<void> => {
      if (!open) return;
      open = false;
      const windows = keys.flatMap((key, index) => [...terms[index]!, String(openings[index])]);
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
    const terms = [String(rate.limit), String(rate.windowMs), rate.algorithm];
    const answer = await this.connection.script(PEEK, this.redisKeys([{ rate, key }]), terms);
    const [counted, inFlight, left] = answer as [number, number, number];
    return { counted, inFlight, limit: rate.limit, closesInMs: Math.max(0, left), shared: false };
  }

  override async reset(rate: Rate, key: string): Promise<boolean> {
    const [redisKey] = this.redisKeys([{ rate, key }]);
    return (await this.connection.run(['DEL', redisKey!], redisKey)) === 1;
  }

  private async acquire(mode: 'count' | 'reserve', keys: readonly CountedKey[]): Promise<unknown[]> {
    for (const key of keys) checkCountedKey(key);
    const redisKeys = this.redisKeys(keys);
    requireDistinct(redisKeys);
    const options = keys.flatMap(termsOf);
    const opening = randomBytes(9).toString('base64url');
    return (await this.connection.script(ACQUIRE, redisKeys, [mode, opening, ...options])) as unknown[];
  }

  /** Digests, so that callers can't choose the size of a key and the server does not learn names and addresses. */
  private redisKeys(keys: readonly RateKey[]): string[] {
    return keys.map(({ rate, key }) => {
      const hash = this.secret === undefined ? createHash('sha256') : createHmac('sha256', this.secret);
      const digest = hash.update(key).digest('base64url').slice(0, 22);
      // The two algorithms store different fields.
      const name = rate.algorithm === 'gcra' ? `${rate.name}~gcra` : rate.name;
      return this.spreadsKeys ? `{${this.prefix}:${digest}}:${name}` : `{${this.prefix}}:${name}:${digest}`;
    });
  }
}

/** The limit, the window, the cost and the algorithm of a key, for a script. */
const termsOf = ({ rate, limit = rate.limit, windowMs = rate.windowMs, cost = 1 }: CountedKey): string[] => [
  String(limit),
  String(windowMs),
  String(Math.min(cost, limit)),
  rate.algorithm,
];

/** How long a bucket takes from the time when it has room for this cost until it is empty. */
const untilEmptyMs = ({ algorithm, limit, windowMs }: Rate, cost: number): number =>
  algorithm === 'gcra' ? Math.floor(windowMs - (cost * windowMs) / limit) : 0;

function requireDistinct(redisKeys: readonly string[]): void {
  if (new Set(redisKeys).size === redisKeys.length) return;
  throw new RangeError('A reservation must not name the same key of a rate twice.');
}

function refusal({ rate, limit = rate.limit }: RateKey, retryAfterMs: number): RateRefusal {
  return { granted: false, rate: rate.name, limit, retryAfterMs };
}
