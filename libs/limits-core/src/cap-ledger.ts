import { type Cap, type CapOffer, type CapRefusal, type CapReservation, type CapTerms, checkCapTerms } from './cap.js';
import { CapHolder } from './cap-holder.js';

export interface CapLedgerOptions {
  /** Holders whose count is remembered; past it, the one that was idle longest is asked for again. */
  readonly maxHolders?: number;
}

/** How many a holder holds, from whoever really knows: a table of the store, an answer of the upstream. */
export type CountHeld = () => number | Promise<number>;

/**
 * What holders hold and have in flight, so that writes that run at the same time never pass a cap together. It knows
 * numbers only; what a write is about and whether it replaces something is for the caller to say.
 */
export class CapLedger {
  readonly #maxHolders: number;
  readonly #caps = new Map<string, Cap>();
  /** By cap and holder, the least recently used first. */
  readonly #holders = new Map<string, CapHolder>();
  readonly #loading = new Map<string, Promise<void>>();

  constructor({ maxHolders = 100_000 }: CapLedgerOptions = {}) {
    this.#maxHolders = maxHolders;
  }

  /** @throws RangeError when the limit is not a whole number from 1. */
  define(name: string, terms: CapTerms): Cap {
    checkCapTerms(name, terms);
    const cap = Object.assign(this.#caps.get(name) ?? { name }, { limit: terms.limit, what: terms.what });
    this.#caps.set(name, cap);
    return cap;
  }

  get caps(): readonly Cap[] {
    return [...this.#caps.values()];
  }

  /**
   * Takes room for a write. The first write of a holder whose count is not known asks for it, and those that come
   * meanwhile wait for the same answer.
   */
  async reserve(cap: Cap, offer: CapOffer, count: CountHeld): Promise<CapReservation | CapRefusal> {
    if (offer.rewrite) return FREE;
    while (!this.knows(cap, offer.holder)) await this.#load(cap, offer.holder, count);
    return this.reserveKnown(cap, offer);
  }

  /** The same when the count is known. @throws Error when it is not. */
  reserveKnown(cap: Cap, offer: CapOffer): CapReservation | CapRefusal {
    if (offer.rewrite) return FREE;
    const holder = this.#touch(cap, offer.holder);
    if (!holder) throw new Error(`Nobody has said how many ${cap.what} the holder has.`);
    const { offered = 1, id } = offer;
    if (!Number.isInteger(offered) || offered < 0) throw new RangeError('An offer is a whole number from 0.');
    const reservation = holder.reserve(cap.limit, offered, id);
    if (reservation) return reservation;
    return { granted: false, cap: cap.name, what: cap.what, limit: cap.limit, held: holder.taken, offered };
  }

  knows(cap: Cap, holder: string): boolean {
    return this.#holders.has(place(cap, holder));
  }

  /** What is known to be held, in flight not included; undefined: not known. */
  held(cap: Cap, holder: string): number | undefined {
    return this.#holders.get(place(cap, holder))?.held;
  }

  /** Takes over a count from whoever really knows. What is in flight stays in flight. */
  reconcile(cap: Cap, holder: string, held: number): void {
    if (!Number.isInteger(held) || held < 0) throw new RangeError(`${cap.name}: nobody holds ${held}.`);
    const known = this.#touch(cap, holder);
    if (known) known.held = held;
    else this.#remember(place(cap, holder), new CapHolder(held));
  }

  /** Some of what was held is gone. Without effect where the count is not known. */
  removed(cap: Cap, holder: string, number = 1): void {
    const known = this.#touch(cap, holder);
    if (known) known.held = Math.max(0, known.held - number);
  }

  /** The count is to be asked for again: something happened that nobody here has seen. */
  doubt(cap: Cap, holder: string): void {
    const known = this.#holders.get(place(cap, holder));
    if (known?.idle) this.#holders.delete(place(cap, holder));
  }

  #load(cap: Cap, holder: string, count: CountHeld): Promise<void> {
    const at = place(cap, holder);
    const running = this.#loading.get(at);
    if (running) return running;
    const loading = (async () => this.reconcile(cap, holder, await count()))().finally(() => this.#loading.delete(at));
    this.#loading.set(at, loading);
    return loading;
  }

  #touch(cap: Cap, holder: string): CapHolder | undefined {
    const at = place(cap, holder);
    const known = this.#holders.get(at);
    if (known) {
      this.#holders.delete(at);
      this.#holders.set(at, known);
    }
    return known;
  }

  #remember(at: string, holder: CapHolder): void {
    this.#holders.set(at, holder);
    for (const [oldest, { idle }] of this.#holders) {
      if (this.#holders.size <= this.#maxHolders) return;
      if (idle && oldest !== at) this.#holders.delete(oldest);
    }
  }
}

const FREE: CapReservation = { granted: true, commit: () => undefined, release: () => undefined };

const place = (cap: Cap, holder: string): string => `${cap.name}\0${holder}`;
