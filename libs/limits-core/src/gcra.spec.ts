import { ManualClock } from './clock.js';
import { MemoryRateLimiter } from './memory-rate-limiter.js';
import { MAX_WINDOW_MS, type RateOptions } from './rate.js';
import { seededRandom } from './testing/random.js';

function open(options: Omit<RateOptions, 'algorithm'> = { limit: 5, windowMs: 60_000 }, maxKeys = 10_000) {
  const clock = new ManualClock(7_000);
  const windows = new MemoryRateLimiter({ clock, maxKeys });
  return { clock, windows, rate: windows.define('r', { ...options, algorithm: 'gcra' }) };
}

/** A token bucket with a list of tokens: each is back `windowMs / limit` after the one that was taken before it. */
class TokenBucket {
  private backAt: number[] = [];

  constructor(
    private readonly limit: number,
    private readonly windowMs: number,
  ) {}

  take(cost: number, now: number): number {
    this.backAt = this.backAt.filter((time) => time > now);
    const free = this.limit - this.backAt.length;
    if (free < cost) return this.backAt[cost - free - 1]! - now;
    for (let n = 0; n < cost; n++) {
      this.backAt.push((this.backAt.at(-1) ?? now) + this.windowMs / this.limit);
    }
    return 0;
  }
}

describe('A gcra rate', () => {
  test('grants a burst of its limit, then one event per interval', () => {
    const { clock, windows, rate } = open();
    for (let n = 0; n < 5; n++) expect(windows.count(rate, 'a')).toBeUndefined();
    expect(windows.count(rate, 'a')).toEqual({ granted: false, rate: 'r', limit: 5, retryAfterMs: 12_000 });
    clock.advance(11_999);
    expect(windows.count(rate, 'a')?.retryAfterMs).toBe(1);
    clock.advance(1);
    expect(windows.count(rate, 'a')).toBeUndefined();
    expect(windows.count(rate, 'a')?.retryAfterMs).toBe(12_000);
    expect(windows.peek(rate, 'a')).toMatchObject({ counted: 5, closesInMs: 60_000 });
  });

  test('lets no more than twice its limit pass in any window, and the limit in the long run', () => {
    const { clock, windows, rate } = open({ limit: 7, windowMs: 1_000 });
    const granted: number[] = [];
    for (let now = 0; now < 20_000; now++, clock.advance(1)) if (!windows.count(rate, 'a')) granted.push(now);
    expect(granted.length).toBeGreaterThanOrEqual(7 * 20);
    expect(granted.length).toBeLessThanOrEqual(7 * 20 + 7);
    for (const start of granted) {
      expect(granted.filter((time) => time >= start && time < start + 1_000).length).toBeLessThanOrEqual(14);
    }
  });

  test.each([3, 7, 999, 1_000_000])('grants exactly %i events at the same time', (limit) => {
    const { windows, rate } = open({ limit, windowMs: 10_000 });
    expect(windows.countAll([{ rate, key: 'a', cost: limit }])).toBeUndefined();
    expect(windows.count(rate, 'a')).toMatchObject({ granted: false });
    for (let n = 0; n < Math.min(limit, 1_000); n++) expect(windows.count(rate, 'b')).toBeUndefined();
    if (limit <= 1_000) expect(windows.count(rate, 'b')).toBeDefined();
  });

  test.each([31, 32, 33])('agrees with a list of tokens under random events and costs (seed %i)', (seed) => {
    const random = seededRandom(seed);
    const { clock, windows, rate } = open({ limit: 8, windowMs: 4_096 });
    const model = new Map<string, TokenBucket>();
    let now = 0;
    for (let step = 0; step < 20_000; step++) {
      const ms = random() < 0.3 ? Math.floor(random() * 700) : 0;
      clock.advance(ms);
      now += ms;
      const key = `k${Math.floor(random() * 20)}`;
      const cost = 1 + Math.floor(random() * 4);
      const bucket = model.get(key) ?? new TokenBucket(8, 4_096);
      model.set(key, bucket);
      const expected = bucket.take(cost, now);
      const refusal = windows.countAll([{ rate, key, cost }]);
      if ((refusal?.retryAfterMs ?? 0) !== expected) {
        throw new Error(`step ${step}: waits ${refusal?.retryAfterMs ?? 0} instead of ${expected}`);
      }
    }
  });

  test('keeps a reserved event out of the bucket, and returns it on release', () => {
    const { windows, rate } = open();
    const reservations = Array.from({ length: 8 }, () => windows.reserve([{ rate, key: 'a' }]));
    expect(reservations.filter(({ granted }) => granted)).toHaveLength(5);
    expect(windows.peek(rate, 'a')).toMatchObject({ counted: 0, inFlight: 5 });
    const [first, second, third] = reservations.filter((answer) => answer.granted);
    first!.release();
    second!.commit();
    expect(windows.peek(rate, 'a')).toMatchObject({ counted: 1, inFlight: 3 });
    third!.reset();
    expect(windows.peek(rate, 'a')).toMatchObject({ counted: 0, inFlight: 2 });
    for (const reservation of reservations) if (reservation.granted) reservation.release();
    expect(windows.peek(rate, 'a')).toMatchObject({ counted: 0, inFlight: 0, closesInMs: 0 });
    expect(windows.stats.keys).toBe(0);
  });

  test('reserves under all keys or none, together with a fixed window', () => {
    const { windows, rate } = open();
    const fixed = windows.define('fixed', { limit: 1, windowMs: 90_000 });
    const keys = [
      { rate, key: 'a' },
      { rate: fixed, key: 'a' },
    ];
    const first = windows.reserve(keys);
    if (first.granted) first.commit();
    expect(windows.reserve(keys)).toMatchObject({ rate: 'fixed', retryAfterMs: 90_000 });
    expect(windows.peek(rate, 'a').counted).toBe(1);
  });

  test('survives a snapshot with its exact time', () => {
    const { clock, windows, rate } = open({ limit: 7, windowMs: 1_000 });
    for (let n = 0; n < 6; n++) windows.count(rate, 'a');
    const other = open({ limit: 7, windowMs: 1_000 });
    other.windows.restore(Buffer.concat([...windows.snapshot(10_000)]), 10_100);
    clock.advance(100);
    for (let step = 0; step < 300; step++) {
      expect(other.windows.count(other.rate, 'a')).toEqual(windows.count(rate, 'a'));
      clock.advance(11);
      other.clock.advance(11);
    }
  });

  test('starts again when a rate changes its algorithm, also over a snapshot', () => {
    const { windows, rate } = open();
    for (let n = 0; n < 5; n++) windows.count(rate, 'a');
    const fixed = windows.define('r', { limit: 5, windowMs: 60_000 });
    expect(windows.peek(fixed, 'a').counted).toBe(0);
    for (let n = 0; n < 5; n++) expect(windows.count(fixed, 'a')).toBeUndefined();
    const other = open();
    other.windows.restore(Buffer.concat([...windows.snapshot(0)]), 0);
    expect(other.windows.peek(other.rate, 'a').counted).toBe(0);
  });

  test('is evicted by its use, and never at its limit', () => {
    const { windows, rate } = open({ limit: 5, windowMs: 60_000 }, 1_000);
    for (let key = 0; key < 200; key++) windows.countAll([{ rate, key: `full${key}`, cost: 5 }]);
    for (let key = 0; key < 200; key++) windows.countAll([{ rate, key: `near${key}`, cost: 4 }]);
    for (let key = 0; key < 5_000; key++) windows.count(rate, `flood${key}`);
    for (let key = 0; key < 200; key++) {
      expect(windows.peek(rate, `full${key}`).counted).toBe(5);
      expect(windows.peek(rate, `near${key}`).counted).toBe(4);
    }
    expect(windows.stats.evicted).toBeGreaterThan(1_000);
  });

  test('refuses a rate beyond the resolution of its times', () => {
    const { windows } = open();
    const define = (limit: number, windowMs: number) => windows.define('x', { limit, windowMs, algorithm: 'gcra' });
    expect(() => define(101, 1)).toThrow('at most 100 events per millisecond');
    expect(() => define(100, 1)).not.toThrow();
  });
});

describe('countAll', () => {
  test('counts costs, and an event that costs more than the limit takes all of it', () => {
    const { clock, windows } = open();
    const rate = windows.define('bytes', { limit: 100, windowMs: 60_000 });
    const upload = (cost: number) => windows.countAll([{ rate, key: 'a', cost }]);
    expect(upload(60)).toBeUndefined();
    clock.advance(10_000);
    expect(upload(41)).toMatchObject({ rate: 'bytes', limit: 100, retryAfterMs: 50_000 });
    expect(upload(40)).toBeUndefined();
    clock.advance(50_000);
    expect(upload(1_000_000_000)).toBeUndefined();
    expect(windows.peek(rate, 'a').counted).toBe(100);
    expect(upload(1)).toMatchObject({ retryAfterMs: 60_000 });
  });

  test('counts under all keys or none, and reports the longest wait', () => {
    const { windows, rate } = open();
    const slow = windows.define('slow', { limit: 1, windowMs: 600_000 });
    const both = [
      { rate, key: 'a', cost: 3 },
      { rate: slow, key: 'a' },
    ];
    expect(windows.countAll(both)).toBeUndefined();
    expect(windows.countAll(both)).toMatchObject({ rate: 'slow', retryAfterMs: 600_000 });
    expect(windows.peek(rate, 'a').counted).toBe(3);
    expect(() => windows.countAll([both[0]!, both[0]!])).toThrow('the same key of a rate twice');
  });

  test('opens a window of its own length', () => {
    const { clock, windows } = open();
    const block = windows.define('block', { limit: 1, windowMs: 1 });
    windows.countAll([{ rate: block, key: 'a', windowMs: 30_000 }]);
    clock.advance(29_999);
    expect(windows.count(block, 'a')?.retryAfterMs).toBe(1);
    clock.advance(1);
    expect(windows.peek(block, 'a').counted).toBe(0);
  });

  test.each([0, -1, 1.5, Number.NaN])('refuses a cost of %p', (cost) => {
    const { windows, rate } = open();
    expect(() => windows.countAll([{ rate, key: 'a', cost }])).toThrow(RangeError);
    expect(windows.stats.keys).toBe(0);
  });
});

describe('A window of 400 days', () => {
  test.each(['fixed-window', 'gcra'] as const)('counts to its end and survives a snapshot (%s)', (algorithm) => {
    const { clock, windows } = open();
    const year = windows.define('year', { limit: 2, windowMs: MAX_WINDOW_MS, algorithm });
    windows.count(year, 'a');
    windows.count(year, 'a');
    const other = open();
    const restored = other.windows.define('year', { limit: 2, windowMs: MAX_WINDOW_MS, algorithm });
    other.windows.restore(Buffer.concat([...windows.snapshot(0)]), 1_000);
    clock.advance(1_000);
    const untilFree = algorithm === 'gcra' ? MAX_WINDOW_MS / 2 : MAX_WINDOW_MS;
    for (const [limiter, rate, time] of [
      [windows, year, clock] as const,
      [other.windows, restored, other.clock] as const,
    ]) {
      expect(limiter.count(rate, 'a')?.retryAfterMs).toBe(untilFree - 1_000);
      time.advance(untilFree - 1_001);
      expect(limiter.count(rate, 'a')?.retryAfterMs).toBe(1);
      time.advance(1);
      expect(limiter.count(rate, 'a')).toBeUndefined();
    }
    expect(() => windows.define('more', { limit: 1, windowMs: MAX_WINDOW_MS + 1 })).toThrow('the window must be 1 to');
  });
});
