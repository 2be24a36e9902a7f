import type { CapLedger, RateWindows } from '@headgate/limits-core';
import { type JsonObject, MatrixError } from '@headgate/matrix-protocol';

/** What an operator may look at and put right. */
export class OperatorApi {
  constructor(
    private readonly windows: RateWindows,
    private readonly ledger: CapLedger,
  ) {}

  /** The rates and caps by name, with their terms. */
  rules(): JsonObject {
    return {
      rates: this.windows.rates.map(({ name, limit, windowMs }) => ({ name, limit, windowMs })),
      caps: this.ledger.caps.map(({ name, limit, what }) => ({ name, limit, what })),
      keys: this.windows.stats.keys,
    };
  }

  inspect(rateName: string, key: string): JsonObject {
    const view = this.windows.peek(this.rate(rateName), key);
    return { rate: rateName, key, ...view };
  }

  /** Wipes a key's window. */
  forgive(rateName: string, key: string): JsonObject {
    return { rate: rateName, key, forgiven: this.windows.forgive(this.rate(rateName), key) };
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
