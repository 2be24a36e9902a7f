import type { CapLedger, RateLimiter, MemoryRateLimiter } from '@headgate/limits-core';
import { type JsonObject, MatrixError } from '@headgate/matrix-protocol';

/** What an operator may look at and put right. */
export class OperatorApi {
  /**
   * @param windows knows the rates by name
   * @param store where they count: these windows, or those that several nodes share
   */
  constructor(
    private readonly windows: MemoryRateLimiter,
    private readonly store: RateLimiter,
    private readonly ledger: CapLedger,
  ) {}

  /** The rates and caps by name, with their terms. */
  rules(): JsonObject {
    return {
      rates: this.windows.rates.map(({ name, limit, windowMs }) => ({ name, limit, windowMs })),
      caps: this.ledger.caps.map(({ name, limit, resource }) => ({ name, limit, what: resource })),
      keys: this.windows.stats.keys,
    };
  }

  async inspect(rateName: string, key: string): Promise<JsonObject> {
    const view = await this.store.peek(this.rate(rateName), key);
    return { rate: rateName, key, ...view };
  }

  /** Wipes a key's window. */
  async reset(rateName: string, key: string): Promise<JsonObject> {
    return { rate: rateName, key, forgiven: await this.store.reset(this.rate(rateName), key) };
  }

  /** What is known to be held. @param holder a user id; followed by a space and a device or a room for what belongs there */
  held(holder: string): JsonObject {
    const caps = this.ledger.caps.map((cap) => [
      cap.name,
      { held: this.ledger.held(cap, holder) ?? null, limit: cap.limit },
    ]);
    return { holder, caps: Object.fromEntries(caps) };
  }

  private rate(name: string) {
    const rate = this.windows.rate(name);
    if (!rate) throw MatrixError.notFound('There is no such rate.');
    return rate;
  }
}
