import type { Clock } from './clock.js';
import { randomStart } from './fingerprint.js';
import { LocalRate } from './local-rate.js';
import { type Hold, LocalReservation, type Outcome } from './local-reservation.js';
import { RateStore } from './rate-store.port.js';
import type { Claim, Rate, RateRefusal, RateTerms, WindowView } from './rate.js';
import {
  MOST_IN_FLIGHT,
  MOST_RATES,
  TAG,
  addCounted,
  addInFlight,
  closesAt,
  counted,
  inFlight,
  opening,
  setCounted,
  used,
} from './slot.js';
import { readSnapshot } from './read-snapshot.js';
import { TurnClock } from './turn-clock.js';
import { type TableStats, WindowTable } from './window-table.js';
import { writeSnapshot } from './write-snapshot.js';

export interface RateWindowsOptions {
  readonly clock?: Clock;
  /** Keys that the table holds before some give way: a million when left out, about 36 MB at most. */
  readonly maxKeys?: number;
}

/**
 * Fixed windows in this process's memory. Windows are anchored at a key's first counted event; what is reserved counts
 * against the limit while it is in flight. Times are whole milliseconds.
 */
export class RateWindows extends RateStore {
  readonly #clock: Clock;
  readonly #origin: number;
  readonly #table: WindowTable;
  readonly #rates = new Map<string, LocalRate>();
  #secret = randomStart();

  constructor({ clock = new TurnClock(), maxKeys = 1_000_000 }: RateWindowsOptions = {}) {
    super();
    if (!Number.isInteger(maxKeys) || maxKeys < 1) throw new RangeError('maxKeys must be a whole number from 1.');
    this.#clock = clock;
    this.#origin = Math.floor(clock.now());
    this.#table = new WindowTable(maxKeys);
  }

  override define(name: string, terms: RateTerms): Rate {
    const rate = this.#rates.get(name) ?? new LocalRate(name, this.#rates.size, this.#table);
    if (rate.index >= MOST_RATES) throw new RangeError(`${name}: a table holds ${MOST_RATES} rates.`);
    rate.setTerms(terms);
    if (!this.#rates.has(name)) rate.startFrom(this.#secret);
    this.#rates.set(name, rate);
    return rate;
  }

  override count(rate: Rate, key: string): RateRefusal | undefined {
    const local = this.#local(rate);
    const now = this.#now();
    const table = this.#table;
    const hash = local.fingerprintOf(key);
    let at = table.find(local.index, hash, now);
    if (at === -1) at = table.open(local.index, hash, now);
    const { slots } = table;
    if (used(slots, at) >= local.limit) return refusal(local, closesAt(slots, at) - now);
    addCounted(slots, at);
    if (counted(slots, at) === 1) table.setClosing(at, now + local.windowMs);
    return undefined;
  }

  override reserve(claims: readonly Claim[]): LocalReservation | RateRefusal {
    const now = this.#now();
    let refused: RateRefusal | undefined;
    for (let i = 0; i < claims.length; i++) {
      for (let j = 0; j < i; j++) {
        if (claims[i]!.rate === claims[j]!.rate && claims[i]!.key === claims[j]!.key) throw new SameClaimTwice();
      }
      const answer = this.#check(claims[i]!, now);
      if (answer && answer.retryAfterMs > (refused?.retryAfterMs ?? 0)) refused = answer;
    }
    if (refused) return refused;
    const holds: Hold[] = [];
    for (const claim of claims) holds.push(this.#hold(claim, now));
    return new LocalReservation(holds, now, this.#settle);
  }

  override peek(rate: Rate, key: string): WindowView {
    const now = this.#now();
    const at = this.#find(rate, key, now);
    if (at === -1) return { counted: 0, inFlight: 0, limit: rate.limit, closesInMs: 0, shared: false };
    const { slots, shared } = this.#table;
    return {
      counted: counted(slots, at),
      inFlight: inFlight(slots, at),
      limit: rate.limit,
      closesInMs: closesAt(slots, at) - now,
      shared,
    };
  }

  override forgive(rate: Rate, key: string): boolean {
    const at = this.#find(rate, key, this.#now());
    if (at !== -1) this.#table.close(at);
    return at !== -1;
  }

  /** The rate of this name, for whoever only has the name. */
  rate(name: string): Rate | undefined {
    return this.#rates.get(name);
  }

  get rates(): readonly Rate[] {
    return [...this.#rates.values()];
  }

  get stats(): TableStats {
    return this.#table.stats();
  }

  /**
   * Clears closed windows out of some thousand slots and gives memory back, in well under a millisecond. New keys do the
   * same on their way; calling this now and then does it for a process that has gone quiet.
   */
  sweep(steps = 1000): void {
    this.#table.upkeep(steps, this.#now());
  }

  /**
   * The state in pieces, one of at most a thousand keys each, so that whoever writes them can let others work in between.
   * They carry the hash's secret: keep them as private as a key. What is in flight is written as counted.
   */
  *snapshot(wallTimeMs: number): Generator<Uint8Array> {
    yield* writeSnapshot(this.#table, this.#secret, [...this.#rates.values()], wallTimeMs, () => this.#now());
  }

  /**
   * Takes over the windows of a snapshot, for the rates defined here, in place of those held now. The time between the
   * two wall times is taken off; when that clock went backwards, none is.
   * @throws SnapshotError when the bytes are no whole snapshot; then nothing has changed.
   */
  restore(bytes: Uint8Array, wallTimeMs: number): void {
    const snapshot = readSnapshot(bytes);
    this.#secret = snapshot.secret;
    for (const rate of this.#rates.values()) rate.startFrom(snapshot.secret);
    this.#table.clear();
    snapshot.load(this.#table, this.#rates, this.#now(), Math.max(0, wallTimeMs - snapshot.wallTimeMs));
  }

  #check({ rate, key }: Claim, now: number): RateRefusal | undefined {
    const at = this.#find(rate, key, now);
    if (at === -1) return undefined;
    const { slots } = this.#table;
    const room = used(slots, at) < rate.limit && inFlight(slots, at) < MOST_IN_FLIGHT;
    return room ? undefined : refusal(rate, closesAt(slots, at) - now);
  }

  #hold(claim: Claim, now: number): Hold {
    const table = this.#table;
    const rate = this.#local(claim.rate);
    let at = this.#find(rate, claim.key, now);
    if (at === -1) at = table.open(rate.index, rate.fingerprintOf(claim.key), now);
    addInFlight(table.slots, at, 1);
    // Nothing counts yet, and whichever of those in flight will count first may be this one.
    if (counted(table.slots, at) === 0) table.setClosing(at, now + rate.windowMs);
    return { claim, opening: opening(table.slots[at + TAG]!), shared: table.shared };
  }

  readonly #settle = ({ claim, opening: opened, shared }: Hold, outcome: Outcome, takenAt: number): void => {
    const table = this.#table;
    const rate = this.#local(claim.rate);
    const hash = rate.fingerprintOf(claim.key);
    const now = this.#now();
    const at = shared ? table.findShared(rate.index, hash, now) : table.findOwn(hash, now);
    if (at === -1 || opening(table.slots[at + TAG]!) !== opened) return;
    addInFlight(table.slots, at, -1);
    if (outcome === 'keep') {
      addCounted(table.slots, at);
      const first = counted(table.slots, at) === 1;
      const closes = takenAt + rate.windowMs;
      if (first || closesAt(table.slots, at) > closes) table.setClosing(at, closes);
      return;
    }
    if (outcome === 'forget') {
      setCounted(table.slots, at, 0);
      table.setClosing(at, now + rate.windowMs);
    }
    table.closeIfUnused(at);
  };

  #find(rate: Rate, key: string, now: number): number {
    const local = this.#local(rate);
    return this.#table.find(local.index, local.fingerprintOf(key), now);
  }

  #local(rate: Rate): LocalRate {
    if (!(rate instanceof LocalRate) || rate.table !== this.#table) {
      throw new TypeError(`${rate.name} was not defined here.`);
    }
    return rate;
  }

  /** Whole milliseconds since this object was made. */
  #now(): number {
    return Math.floor(this.#clock.now()) - this.#origin;
  }
}

class SameClaimTwice extends RangeError {
  constructor() {
    super('A reservation names each key of a rate once.');
  }
}

function refusal(rate: Rate, retryAfterMs: number): RateRefusal {
  return { granted: false, rate: rate.name, limit: rate.limit, retryAfterMs };
}
