import { CachedClock } from './cached-clock.js';
import type { Clock } from './clock.js';
import { randomSeed } from './fingerprint.js';
import { backlogUnits, eventUnits, gcraWaitMs, setBacklog } from './gcra.js';
import { MemoryRate } from './memory-rate.js';
import { MemoryReservation, type ReservedKey, type Settlement } from './memory-reservation.js';
import { RateLimiter } from './rate-limiter.port.js';
import {
  type CountedKey,
  type Rate,
  type RateKey,
  type RateOptions,
  type RateRefusal,
  type WindowState,
  checkCountedKey,
} from './rate.js';
import { readSnapshot } from './read-snapshot.js';
import {
  MAX_IN_FLIGHT,
  MAX_RATES,
  TAG,
  addCounted,
  addInFlight,
  closesAt,
  counted,
  generationOf,
  inFlight,
  setCounted,
  used,
} from './slot.js';
import { type TableStats, WindowTable } from './window-table.js';
import { writeSnapshot } from './write-snapshot.js';

export interface MemoryRateLimiterOptions {
  readonly clock?: Clock;
  /** Keys held before some are evicted: a million by default, which takes at most about 36 MB. */
  readonly maxKeys?: number;
}

/**
 * Fixed windows and token buckets in this process's memory. A window starts with a key's first counted event; reserved
 * events count against the limit while they are in flight. Times are whole milliseconds.
 */
export class MemoryRateLimiter extends RateLimiter {
  private readonly clock: Clock;
  private readonly origin: number;
  private readonly table: WindowTable;
  private readonly ratesByName = new Map<string, MemoryRate>();
  private secret = randomSeed();

  constructor({ clock = new CachedClock(), maxKeys = 1_000_000 }: MemoryRateLimiterOptions = {}) {
    super();
    if (!Number.isInteger(maxKeys) || maxKeys < 1) {
      throw new RangeError(`maxKeys must be a whole number of at least 1, not ${maxKeys}.`);
    }
    this.clock = clock;
    this.origin = Math.floor(clock.now());
    this.table = new WindowTable(maxKeys);
  }

  override define(name: string, options: RateOptions): Rate {
    const rate = this.ratesByName.get(name) ?? new MemoryRate(name, this.ratesByName.size, this.table);
    if (rate.index >= MAX_RATES) throw new RangeError(`${name}: a limiter has at most ${MAX_RATES} rates.`);
    const { algorithm } = rate;
    rate.setOptions(options);
    if (!this.ratesByName.has(name) || rate.algorithm !== algorithm) rate.deriveSeed(this.secret);
    this.ratesByName.set(name, rate);
    return rate;
  }

  override count(rate: Rate, key: string, limit = rate.limit): RateRefusal | undefined {
    const own = this.ownRate(rate);
    if (own.isGcra) return this.countAll([{ rate, key, limit }]);
    const now = this.now();
    const table = this.table;
    const hash = own.fingerprintOf(key);
    let at = table.find(own.index, hash, now);
    if (at === -1) at = table.open(own.index, hash, now);
    const { slots } = table;
    if (used(slots, at) >= limit) return refusal(own, limit, closesAt(slots, at) - now);
    addCounted(slots, at);
    if (counted(slots, at) === 1) table.setClosing(at, now + own.windowMs);
    return undefined;
  }

  override countAll(keys: readonly CountedKey[]): RateRefusal | undefined {
    const now = this.now();
    for (const key of keys) checkCountedKey(key);
    const refused = this.checkAll(keys, now);
    if (refused) return refused;
    for (const key of keys) this.add(key, now);
    return undefined;
  }

  override reserve(keys: readonly RateKey[]): MemoryReservation | RateRefusal {
    const now = this.now();
    for (const key of keys) checkCountedKey(key);
    const refused = this.checkAll(keys, now) ?? this.checkInFlight(keys, now);
    if (refused) return refused;
    const reserved: ReservedKey[] = [];
    for (const rateKey of keys) reserved.push(this.reserveKey(rateKey, now));
    return new MemoryReservation(reserved, now, this.settle);
  }

  override peek(rate: Rate, key: string): WindowState {
    const now = this.now();
    const at = this.find(rate, key, now);
    if (at === -1) return { counted: 0, inFlight: 0, limit: rate.limit, closesInMs: 0, shared: false };
    const { slots, shared } = this.table;
    const own = this.ownRate(rate);
    return {
      counted: own.isGcra ? this.countedInBucket(own, at, now) : counted(slots, at),
      inFlight: inFlight(slots, at),
      limit: rate.limit,
      closesInMs: closesAt(slots, at) - now,
      shared,
    };
  }

  override reset(rate: Rate, key: string): boolean {
    const at = this.find(rate, key, this.now());
    if (at !== -1) this.table.close(at);
    return at !== -1;
  }

  /** The rate of this name. */
  rate(name: string): Rate | undefined {
    return this.ratesByName.get(name);
  }

  get rates(): readonly Rate[] {
    return [...this.ratesByName.values()];
  }

  get stats(): TableStats {
    return this.table.stats();
  }

  /**
   * Removes closed windows from about a thousand slots and frees memory, in well under a millisecond. New keys do the
   * same in passing; call this now and then in a process that may go idle.
   */
  sweep(steps = 1000): void {
    this.table.maintain(steps, this.now());
  }

  /**
   * The state in chunks of at most a thousand keys, so that other work can run between two of them. The chunks contain
   * the hash's secret: keep them as private as a key. Reserved events are written as counted.
   */
  *snapshot(wallTimeMs: number): Generator<Uint8Array> {
    yield* writeSnapshot({
      table: this.table,
      secret: this.secret,
      rates: [...this.ratesByName.values()],
      wallTimeMs,
      now: () => this.now(),
    });
  }

  /**
   * Replaces the current windows with those of a snapshot, for the rates defined here. The time between the two wall
   * times is subtracted, unless the wall clock went backwards.
   * @throws SnapshotError when the bytes are not a complete snapshot; then nothing has changed.
   */
  restore(bytes: Uint8Array, wallTimeMs: number): void {
    const snapshot = readSnapshot(bytes);
    this.secret = snapshot.secret;
    for (const rate of this.ratesByName.values()) rate.deriveSeed(snapshot.secret);
    this.table.clear();
    snapshot.load({
      table: this.table,
      rates: this.ratesByName,
      now: this.now(),
      elapsedMs: Math.max(0, wallTimeMs - snapshot.wallTimeMs),
    });
  }

  /** The refusal that lasts longest. */
  private checkAll(keys: readonly CountedKey[], now: number): RateRefusal | undefined {
    let refused: RateRefusal | undefined;
    for (let i = 0; i < keys.length; i++) {
      for (let j = 0; j < i; j++) {
        if (keys[i]!.rate === keys[j]!.rate && keys[i]!.key === keys[j]!.key) throw new DuplicateKeyError();
      }
      const answer = this.check(keys[i]!, now);
      if (answer && answer.retryAfterMs > (refused?.retryAfterMs ?? 0)) refused = answer;
    }
    return refused;
  }

  private check(rateKey: CountedKey, now: number): RateRefusal | undefined {
    const { rate, key, limit = rate.limit } = rateKey;
    const at = this.find(rate, key, now);
    if (at === -1) return undefined;
    const { slots } = this.table;
    const { isGcra, windowMs } = this.ownRate(rate);
    const price = priceOf(rateKey);
    if (isGcra) {
      const waitMs = gcraWaitMs(backlogUnits(slots, at, now), price, { limit, windowMs });
      return waitMs > 0 ? refusal(rate, limit, waitMs) : undefined;
    }
    return used(slots, at) + price > limit ? refusal(rate, limit, closesAt(slots, at) - now) : undefined;
  }

  /** Counts an event for which `check` found room. */
  private add(countedKey: CountedKey, now: number): void {
    const { rate, key, limit = rate.limit, windowMs = rate.windowMs } = countedKey;
    const table = this.table;
    const own = this.ownRate(rate);
    const hash = own.fingerprintOf(key);
    let at = table.find(own.index, hash, now);
    const isNew = at === -1;
    if (isNew) at = table.open(own.index, hash, now);
    const price = priceOf(countedKey);
    if (own.isGcra) {
      const backlog = isNew ? 0 : backlogUnits(table.slots, at, now);
      setBacklog(table, at, backlog + price * eventUnits({ limit, windowMs: own.windowMs }), now);
      return;
    }
    const isFirst = counted(table.slots, at) === 0;
    addCounted(table.slots, at, price);
    if (isFirst) table.setClosing(at, now + windowMs);
  }

  private checkInFlight(keys: readonly RateKey[], now: number): RateRefusal | undefined {
    for (const { rate, key, limit = rate.limit } of keys) {
      const at = this.find(rate, key, now);
      if (at === -1 || inFlight(this.table.slots, at) < MAX_IN_FLIGHT) continue;
      return refusal(rate, limit, closesAt(this.table.slots, at) - now);
    }
    return undefined;
  }

  private reserveKey(rateKey: RateKey, now: number): ReservedKey {
    const table = this.table;
    const rate = this.ownRate(rateKey.rate);
    const price = priceOf(rateKey);
    // A bucket holds the reserved event from now on, and takes it out again if it is released.
    if (rate.isGcra) this.add(rateKey, now);
    let at = this.find(rate, rateKey.key, now);
    if (at === -1) at = table.open(rate.index, rate.fingerprintOf(rateKey.key), now);
    addInFlight(table.slots, at, 1);
    if (!rate.isGcra) {
      // Nothing counts yet, and this event may become the first one that does.
      if (counted(table.slots, at) === 0) table.setClosing(at, now + rate.windowMs);
      // The bits for events in flight are few: all but 1 of a cost is held as counted.
      addCounted(table.slots, at, price - 1);
    }
    return { rateKey, generation: generationOf(table.slots[at + TAG]!), price, shared: table.shared };
  }

  private readonly settle = (
    { rateKey, generation, price, shared }: ReservedKey,
    settlement: Settlement,
    reservedAt: number,
  ): void => {
    const table = this.table;
    const rate = this.ownRate(rateKey.rate);
    const hash = rate.fingerprintOf(rateKey.key);
    const now = this.now();
    const at = shared ? table.findShared(rate.index, hash, now) : table.findOwn(hash, now);
    if (at === -1 || generationOf(table.slots[at + TAG]!) !== generation) return;
    addInFlight(table.slots, at, -1);
    if (rate.isGcra) {
      this.settleBucket({ ...rateKey, cost: price }, settlement, at, now);
      return;
    }
    if (settlement === 'commit') {
      addCounted(table.slots, at);
      const first = counted(table.slots, at) === price;
      const closes = reservedAt + rate.windowMs;
      if (first || closesAt(table.slots, at) > closes) table.setClosing(at, closes);
      return;
    }
    if (settlement === 'reset') {
      setCounted(table.slots, at, 0);
      table.setClosing(at, now + rate.windowMs);
    } else {
      // A reset in between has already returned this.
      setCounted(table.slots, at, Math.max(0, counted(table.slots, at) - (price - 1)));
    }
    table.closeIfUnused(at);
  };

  private settleBucket(
    { rate, limit = rate.limit, cost = 1 }: RateKey,
    settlement: Settlement,
    at: number,
    now: number,
  ): void {
    if (settlement === 'commit') return;
    const { slots } = this.table;
    const units = eventUnits({ limit, windowMs: rate.windowMs });
    const backlog =
      settlement === 'release' ? backlogUnits(slots, at, now) - cost * units : inFlight(slots, at) * units;
    if (backlog > 0) setBacklog(this.table, at, backlog, now);
    else this.table.close(at);
  }

  private countedInBucket(rate: MemoryRate, at: number, now: number): number {
    const { slots } = this.table;
    return Math.max(0, Math.ceil(backlogUnits(slots, at, now) / eventUnits(rate)) - inFlight(slots, at));
  }

  private find(rate: Rate, key: string, now: number): number {
    const own = this.ownRate(rate);
    return this.table.find(own.index, own.fingerprintOf(key), now);
  }

  private ownRate(rate: Rate): MemoryRate {
    if (!(rate instanceof MemoryRate) || rate.table !== this.table) {
      throw new TypeError(`${rate.name} was not defined by this limiter.`);
    }
    return rate;
  }

  /** Whole milliseconds since this limiter was created. */
  private now(): number {
    return Math.floor(this.clock.now()) - this.origin;
  }
}

class DuplicateKeyError extends RangeError {
  constructor() {
    super('A reservation must not name the same key of a rate twice.');
  }
}

/** What an event takes from the limit of a key. */
const priceOf = ({ rate, limit = rate.limit, cost = 1 }: RateKey): number => Math.min(cost, limit);

function refusal(rate: Rate, limit: number, retryAfterMs: number): RateRefusal {
  return { granted: false, rate: rate.name, limit, retryAfterMs };
}
