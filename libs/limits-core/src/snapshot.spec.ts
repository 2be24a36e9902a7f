import { ManualClock } from './clock.js';
import { MemoryRateLimiter } from './memory-rate-limiter.js';
import { SnapshotError } from './snapshot-format.js';

const join = (windows: MemoryRateLimiter, wallTimeMs: number) => Buffer.concat([...windows.snapshot(wallTimeMs)]);

function open(limit = 5) {
  const clock = new ManualClock(1000);
  const windows = new MemoryRateLimiter({ clock });
  const account = windows.define('login.account', { limit, windowMs: 60_000 });
  const ring = windows.define('ring', { limit: 10, windowMs: 60_000 });
  return { clock, windows, account, ring };
}

describe('MemoryRateLimiter.snapshot', () => {
  test('preserves windows across a restart and subtracts the downtime', () => {
    const before = open();
    for (let event = 0; event < 5; event++) before.windows.count(before.account, '@alice:example.org');
    before.windows.count(before.ring, '@alice:example.org');
    before.clock.advance(10_000);
    const bytes = join(before.windows, 1_000_000);
    const after = open();
    after.windows.restore(bytes, 1_007_000);
    expect(after.windows.count(after.account, '@alice:example.org')).toMatchObject({ retryAfterMs: 43_000 });
    expect(after.windows.peek(after.ring, '@alice:example.org')).toMatchObject({ counted: 1, closesInMs: 43_000 });
    expect(after.windows.stats.keys).toBe(2);
  });

  test('preserves many keys, also in a snapshot of restored windows', () => {
    const before = open();
    for (let key = 0; key < 5000; key++)
      for (let n = 0; n <= key % 4; n++) before.windows.count(before.account, `u${key}`);
    const middle = open();
    middle.windows.restore(join(before.windows, 7), 7);
    const after = open();
    after.windows.restore(join(middle.windows, 7), 7);
    for (let key = 0; key < 5000; key++)
      expect(after.windows.peek(after.account, `u${key}`).counted).toBe((key % 4) + 1);
  });

  test('writes reserved events as counted, since their outcome is unknown', () => {
    const before = open();
    before.windows.reserve([{ rate: before.account, key: 'a' }]);
    const after = open();
    after.windows.restore(join(before.windows, 0), 0);
    expect(after.windows.peek(after.account, 'a')).toMatchObject({ counted: 1, inFlight: 0 });
  });

  test('drops windows that closed in the meantime, and subtracts nothing if the wall clock went backwards', () => {
    const before = open();
    before.windows.count(before.account, 'a');
    const bytes = join(before.windows, 500_000);
    const late = open();
    late.windows.restore(bytes, 560_000);
    expect(late.windows.stats.keys).toBe(0);
    const back = open();
    back.windows.restore(bytes, 100);
    expect(back.windows.peek(back.account, 'a').closesInMs).toBe(60_000);
  });

  test('matches rates by name, even if rates were added, removed or reordered', () => {
    const before = open();
    before.windows.count(before.account, 'a');
    before.windows.count(before.ring, 'a');
    const windows = new MemoryRateLimiter({ clock: new ManualClock() });
    windows.define('new', { limit: 1, windowMs: 1 });
    const ring = windows.define('ring', { limit: 10, windowMs: 30_000 });
    windows.restore(join(before.windows, 0), 0);
    expect(windows.peek(ring, 'a')).toMatchObject({ counted: 1, closesInMs: 30_000 });
    expect(windows.stats.keys).toBe(1);
  });

  test('is refused as a whole if a byte is missing, changed or extra, without changing the windows', () => {
    const before = open();
    for (let key = 0; key < 20; key++) before.windows.count(before.account, `u${key}`);
    const bytes = join(before.windows, 0);
    const after = open();
    after.windows.count(after.account, 'mine');
    for (let at = 0; at < bytes.length; at++) {
      const damaged = Buffer.from(bytes);
      damaged[at]! ^= 0x55;
      expect(() => after.windows.restore(damaged, 0)).toThrow(SnapshotError);
      expect(() => after.windows.restore(bytes.subarray(0, at), 0)).toThrow(SnapshotError);
    }
    expect(() => after.windows.restore(Buffer.concat([bytes, Buffer.of(0)]), 0)).toThrow(SnapshotError);
    expect(after.windows.peek(after.account, 'mine').counted).toBe(1);
  });
});
