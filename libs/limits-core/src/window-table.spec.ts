import { ManualClock } from './clock.js';
import { MemoryRateLimiter } from './memory-rate-limiter.js';
import { seededRandom } from './testing/random.js';

function open(maxKeys: number, limit = 5, windowMs = 60_000) {
  const clock = new ManualClock();
  const windows = new MemoryRateLimiter({ clock, maxKeys });
  return { clock, windows, rate: windows.define('r', { limit, windowMs }) };
}

describe('WindowTable', () => {
  test('loses no key while it grows to many pages and shrinks again', () => {
    const { clock, windows, rate } = open(200_000);
    for (let key = 0; key < 40_000; key++) {
      for (let n = 0; n <= key % 3; n++) windows.count(rate, `k${key}`);
      if (key % 997 === 0) expect(windows.peek(rate, `k${key >>> 1}`).counted).toBe(((key >>> 1) % 3) + 1);
    }
    for (let key = 0; key < 40_000; key++) {
      if (windows.peek(rate, `k${key}`).counted !== (key % 3) + 1) throw new Error(`k${key} was lost`);
    }
    expect(windows.stats).toMatchObject({ keys: 40_000, evicted: 0, shared: 0 });
    const large = windows.stats.bytes;
    clock.advance(30_000);
    for (let key = 0; key < 500; key++) windows.count(rate, `late${key}`);
    clock.advance(30_000);
    windows.sweep(50_000);
    expect(windows.stats.keys).toBe(500);
    expect(windows.stats.bytes).toBeLessThan(large / 4);
    for (let key = 0; key < 500; key++) expect(windows.peek(rate, `late${key}`).counted).toBe(1);
  });

  test('uses at most 64 bytes per key, whatever their number, once it fills a few pages', () => {
    const { windows, rate } = open(1_000_000);
    for (let key = 0; key < 120_000; key++) {
      windows.count(rate, `k${key}`);
      if (key > 50_000 && windows.stats.bytes > 64 * key) throw new Error(`${windows.stats.bytes} bytes, ${key} keys`);
    }
  });

  test('stays within its bound, and evicts closed windows before open ones', () => {
    const { clock, windows, rate } = open(3_000);
    for (let key = 0; key < 2_000; key++) windows.count(rate, `old${key}`);
    clock.advance(30_000);
    for (let key = 0; key < 1_000; key++) windows.count(rate, `new${key}`);
    clock.advance(30_000);
    for (let key = 0; key < 2_000; key++) windows.count(rate, `newer${key}`);
    expect(windows.stats.evicted).toBe(0);
    for (let key = 0; key < 1_000; key++) expect(windows.peek(rate, `new${key}`).counted).toBe(1);
    for (let key = 0; key < 50_000; key++) windows.count(rate, `flood${key}`);
    expect(windows.stats.keys).toBeLessThanOrEqual(3_000);
    expect(windows.stats.bytes).toBeLessThanOrEqual(windows.stats.maxBytes);
    expect(windows.stats.evicted).toBeGreaterThan(40_000);
  });

  test('evicts neither a key at its limit nor one with events in flight', () => {
    const { windows, rate } = open(1_000);
    for (let key = 0; key < 200; key++) for (let n = 0; n < 5; n++) windows.count(rate, `full${key}`);
    const inFlight = Array.from({ length: 200 }, (_, key) => windows.reserve([{ rate, key: `busy${key}` }]));
    for (let key = 0; key < 20_000; key++) windows.count(rate, `flood${key}`);
    for (let key = 0; key < 200; key++) expect(windows.count(rate, `full${key}`)).toBeDefined();
    for (const reservation of inFlight) if (reservation.granted) reservation.commit();
    for (let key = 0; key < 200; key++) expect(windows.peek(rate, `busy${key}`).counted).toBe(1);
  });

  test('evicts keys far from their limit before those near it', () => {
    const { windows, rate } = open(1_000, 5);
    for (let key = 0; key < 400; key++) for (let n = 0; n < 4; n++) windows.count(rate, `near${key}`);
    for (let key = 0; key < 5_000; key++) windows.count(rate, `flood${key}`);
    const kept = Array.from({ length: 400 }, (_, key) => windows.peek(rate, `near${key}`).counted);
    expect(kept.filter((counted) => counted === 4)).toHaveLength(400);
  });

  test('puts new keys into coarse shared buckets if no key may be evicted, so that they stay limited together', () => {
    const { clock, windows, rate } = open(100, 2);
    for (let key = 0; key < 100; key++) for (let n = 0; n < 2; n++) windows.count(rate, `full${key}`);
    let counted = 0;
    for (let key = 0; key < 10_000; key++) if (!windows.count(rate, `more${key}`)) counted++;
    expect(counted).toBe(64 * 2);
    expect(windows.peek(rate, 'more0')).toMatchObject({ counted: 2, shared: true });
    expect(windows.stats).toMatchObject({ keys: 100, evicted: 0, shared: 64 });
    clock.advance(60_000);
    expect(windows.count(rate, 'more0')).toBeUndefined();
    expect(windows.peek(rate, 'more0')).toMatchObject({ counted: 1, shared: false });
  });

  test('settles reservations in shared buckets, and preserves these in a snapshot', () => {
    const { windows, rate } = open(1, 2);
    for (let n = 0; n < 2; n++) windows.count(rate, 'full');
    const [kept, dropped] = [windows.reserve([{ rate, key: 'a' }]), windows.reserve([{ rate, key: 'a' }])];
    if (kept.granted) kept.commit();
    if (dropped.granted) dropped.release();
    expect(windows.peek(rate, 'a')).toMatchObject({ counted: 1, inFlight: 0, shared: true });
    const other = open(1, 2);
    other.windows.restore(Buffer.concat([...windows.snapshot(0)]), 0);
    expect(other.windows.peek(other.rate, 'a')).toMatchObject({ counted: 1, shared: true });
    expect(other.windows.peek(other.rate, 'full')).toMatchObject({ counted: 2, shared: false });
  });

  test('distinguishes old windows from new ones after years', () => {
    const { clock, windows, rate } = open(1_000);
    windows.count(rate, 'a');
    for (const days of [24, 25, 49, 50, 100, 1000, 5000]) {
      clock.advance(days * 86_400_000);
      expect(windows.peek(rate, 'a').counted).toBe(0);
      windows.count(rate, 'a');
      expect(windows.peek(rate, 'a')).toMatchObject({ counted: 1, closesInMs: 60_000 });
    }
  });

  test.each([21, 22, 23])('agrees with a Map under random events, resets and closings (seed %i)', (seed) => {
    const random = seededRandom(seed);
    const { clock, windows, rate } = open(100_000, 1_000, 4_000);
    const model = new Map<string, { counted: number; closes: number }>();
    let now = 0;
    for (let step = 0; step < 60_000; step++) {
      if (random() < 0.1) {
        clock.advance(1);
        now++;
      }
      const key = `k${Math.floor(random() ** 2 * 30_000)}`;
      const known = model.get(key);
      const before = known && known.closes > now ? known.counted : 0;
      if (windows.peek(rate, key).counted !== before) throw new Error(`step ${step}: ${key} should be ${before}`);
      if (random() < 0.1) {
        windows.reset(rate, key);
        model.delete(key);
      } else {
        windows.count(rate, key);
        model.set(key, before ? { ...known!, counted: before + 1 } : { counted: 1, closes: now + 4_000 });
      }
    }
    const live = [...model.values()].filter(({ closes }) => closes > now).length;
    windows.sweep(100_000);
    expect(windows.stats.keys).toBe(live);
  });
});
