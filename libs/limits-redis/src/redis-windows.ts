import { randomUUID } from 'node:crypto';
import {
  type Claim,
  type Rate,
  type RateRefusal,
  type Reservation,
  SharedWindows,
  type WindowView,
} from '@headgate/limits-core';
import { type RedisConnection, type ServerOptions, openConnection } from './redis-connection.js';
import { SETTLE, TAKE } from './scripts.js';

export interface RedisWindowsOptions extends ServerOptions {
  /** Stands before every key, in braces, so that a cluster keeps them all on one node: `limits` when left out. */
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

  /** Does not wait for the server: while it is away every call rejects, and the connection is tried again. */
  static open({ prefix = 'limits', ...server }: RedisWindowsOptions): RedisWindows {
    return new RedisWindows(openConnection(server), prefix);
  }

  async close(): Promise<void> {
    await this.#connection.close();
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
    const [at] = this.#keys([{ rate, key }]);
    const [values, left] = await Promise.all([
      this.#connection.run(['HMGET', at!, 'used', 'counted']) as Promise<(string | null)[]>,
      this.#connection.run(['PTTL', at!]) as Promise<number>,
    ]);
    const [used, counted] = values.map(Number);
    return {
      counted: counted!,
      inFlight: used! - counted!,
      limit: rate.limit,
      closesInMs: Math.max(0, left),
      shared: false,
    };
  }

  override async forgive(rate: Rate, key: string): Promise<boolean> {
    return (await this.#connection.run(['DEL', ...this.#keys([{ rate, key }])])) === 1;
  }

  #take(how: 'count' | 'reserve', claims: readonly Claim[]): Promise<unknown[]> {
    const terms = claims.flatMap(({ rate }) => [String(rate.limit), String(rate.windowMs)]);
    return this.#connection.script(TAKE, this.#keys(claims), [how, randomUUID(), ...terms]) as Promise<unknown[]>;
  }

  #keys(claims: readonly Claim[]): string[] {
    return claims.map(({ rate, key }) => `{${this.#prefix}}:${rate.name}:${key}`);
  }
}

function refusal(rate: Rate, retryAfterMs: number): RateRefusal {
  return { granted: false, rate: rate.name, limit: rate.limit, retryAfterMs };
}
