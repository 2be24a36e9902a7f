import { createHash, randomBytes } from 'node:crypto';
import {
  type Claim,
  type Rate,
  type RateRefusal,
  type Reservation,
  SharedWindows,
  type WindowView,
} from '@headgate/limits-core';
import { RedisConnection, type ServerOptions } from './redis-connection.js';
import { LOOK, SETTLE, TAKE } from './scripts.js';

export interface RedisWindowsOptions extends ServerOptions {
  /** Stands before every key, in braces: `limits` when left out. */
  readonly prefix?: string;
}

/** Windows on a Redis or Valkey server (5 or newer). */
export class RedisWindows extends SharedWindows {
  readonly #connection: RedisConnection;
  readonly #prefix: string;

  private constructor(connection: RedisConnection, prefix: string) {
    super();
    this.#connection = connection;
    this.#prefix = prefix;
  }

  /**
   * Does not wait for the server: while it is away every call rejects, and the connection is tried again.
   * @throws TypeError when the URL makes no sense, RangeError when the prefix does not
   */
  static open({ prefix = 'limits', ...server }: RedisWindowsOptions): RedisWindows {
    if (!/^[^{}]+$/.test(prefix)) throw new RangeError('The prefix must be a text without braces.');
    return new RedisWindows(new RedisConnection(server), prefix);
  }

  async close(): Promise<void> {
    this.#connection.close();
  }

  /** Resolves when the server answers; rejects when it does not in time. */
  async ping(): Promise<void> {
    await this.#connection.run(['PING']);
  }

  override async count(rate: Rate, key: string): Promise<RateRefusal | undefined> {
    const [refusing, wait] = await this.#take('count', [{ rate, key }]);
    return refusing === 0 ? undefined : refusal(rate, wait as number);
  }

  override async reserve(claims: readonly Claim[]): Promise<Reservation | RateRefusal> {
    const [refusing, second, ...openings] = await this.#take('reserve', claims);
    if (refusing !== 0) return refusal(claims[(refusing as number) - 1]!.rate, second as number);
    let open = true;
    const settle = async (outcome: 'keep' | 'forget' | 'release'): Promise<void> => {
      if (!open) return;
      open = false;
      const windows = claims.flatMap(({ rate }, index) => [String(rate.windowMs), String(openings[index])]);
      await this.#connection.script(SETTLE, this.#keys(claims), [outcome, String(second), ...windows]);
    };
    return {
      granted: true,
      keep: () => settle('keep'),
      forget: () => settle('forget'),
      release: () => settle('release'),
    };
  }

  override async peek(rate: Rate, key: string): Promise<WindowView> {
    const answer = await this.#connection.script(LOOK, this.#keys([{ rate, key }]), []);
    const [counted, inFlight, left] = answer as [number, number, number];
    return { counted, inFlight, limit: rate.limit, closesInMs: Math.max(0, left), shared: false };
  }

  override async forgive(rate: Rate, key: string): Promise<boolean> {
    return (await this.#connection.run(['DEL', ...this.#keys([{ rate, key }])])) === 1;
  }

  async #take(how: 'count' | 'reserve', claims: readonly Claim[]): Promise<unknown[]> {
    const keys = this.#keys(claims);
    if (new Set(keys).size < keys.length) throw new RangeError('A reservation names each key of a rate once.');
    const terms = claims.flatMap(({ rate }) => [String(rate.limit), String(rate.windowMs)]);
    const opening = randomBytes(9).toString('base64url');
    return (await this.#connection.script(TAKE, keys, [how, opening, ...terms])) as unknown[];
  }

  /** Digests: a caller must not decide how much a key weighs, and the server need not know names and addresses. */
  #keys(claims: readonly Claim[]): string[] {
    return claims.map(({ rate, key }) => {
      const digest = createHash('sha256').update(key).digest('base64url').slice(0, 22);
      return `{${this.#prefix}}:${rate.name}:${digest}`;
    });
  }
}

function refusal(rate: Rate, retryAfterMs: number): RateRefusal {
  return { granted: false, rate: rate.name, limit: rate.limit, retryAfterMs };
}
