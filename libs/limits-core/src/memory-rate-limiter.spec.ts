import { ManualClock } from './clock.js';
import { MemoryRateLimiter } from './memory-rate-limiter.js';
import type { RateKey, RateRefusal, Reservation } from './rate.js';
import { ReferenceLimiter } from './testing/reference-limiter.js';
import { seededRandom } from './testing/random.js';

function open(maxKeys?: number) {
  const clock = new ManualClock(5_000);
  const windows = new MemoryRateLimiter({ clock, ...(maxKeys ? { maxKeys } : {}) });
  const account = windows.define('login.account', { limit: 5, windowMs: 60_000 });
  const source = windows.define('login.source', { limit: 30, windowMs: 60_000 });
  return { clock, windows, account, source };
}

const expectGranted = (answer: Reservation | RateRefusal): Reservation => {
  if (!answer.granted) throw new Error(`refused by ${answer.rate}`);
  return answer;
};

describe('MemoryRateLimiter.count', () => {
  test('counts up to the limit, then refuses until the window closes that the first event opened', () => {
    const { clock, windows, account } = open();
    expect(windows.count(account, 'alice')).toBeUndefined();
    clock.advance(10_000);
    for (let event = 2; event <= 5; event++) expect(windows.count(account, 'alice')).toBeUndefined();
    clock.advance(20_000);
    expect(windows.count(account, 'alice')).toEqual({
      granted: false,
      rate: 'login.account',
      limit: 5,
      retryAfterMs: 30_000,
    });
    clock.advance(29_999);
    expect(windows.count(account, 'alice')?.retryAfterMs).toBe(1);
    clock.advance(1);
    expect(windows.count(account, 'alice')).toBeUndefined();
    expect(windows.peek(account, 'alice')).toMatchObject({ counted: 1, closesInMs: 60_000 });
  });

  test('does not count refusals or extend the window because of them', () => {
    const { clock, windows, account } = open();
    for (let event = 0; event < 50; event++) windows.count(account, 'alice');
    expect(windows.peek(account, 'alice')).toMatchObject({ counted: 5, closesInMs: 60_000 });
    clock.advance(60_000);
    expect(windows.peek(account, 'alice')).toMatchObject({ counted: 0, closesInMs: 0 });
  });

  test('separates keys, and the same key under two rates', () => {
    const { windows, account, source } = open();
    for (let event = 0; event < 5; event++) windows.count(account, 'x');
    expect(windows.count(account, 'y')).toBeUndefined();
    expect(windows.count(source, 'x')).toBeUndefined();
    expect(windows.peek(source, 'x').counted).toBe(1);
  });

  test('separates texts whose code units have the same low bytes', () => {
    const { windows, account } = open();
    const texts = [
      'aaaa',
      'aaa',
      'aaaa\0',
      'ä',
      'Ä',
      'ā',
      '\u0161',
      'a\u0000',
      '\u6161',
      'aa',
      '',
      '\0',
      '😀',
      '\ud83d',
    ];
    for (const [index, text] of texts.entries()) for (let n = 0; n <= index % 5; n++) windows.count(account, text);
    expect(texts.map((text) => windows.peek(account, text).counted)).toEqual(texts.map((_, index) => (index % 5) + 1));
  });

  test('applies new options to an existing name and keeps its counts', () => {
    const { windows, account } = open();
    for (let event = 0; event < 3; event++) windows.count(account, 'alice');
    expect(windows.define('login.account', { limit: 3, windowMs: 60_000 })).toBe(account);
    expect(windows.count(account, 'alice')).toMatchObject({ limit: 3 });
  });

  test.each([
    [{ limit: 0, windowMs: 1000 }, /the limit/],
    [{ limit: 1.5, windowMs: 1000 }, /the limit/],
    [{ limit: 1, windowMs: 0 }, /the window/],
    [{ limit: 1, windowMs: 400 * 86_400_000 + 1 }, /the window/],
  ])('refuses invalid options: %j', (options, message) => {
    expect(() => open().windows.define('ring', options)).toThrow(message);
  });

  test('applies a limit given for one event instead of that of its rate', () => {
    const { windows, account } = open();
    for (let event = 0; event < 2; event++) expect(windows.count(account, 'alice', 2)).toBeUndefined();
    expect(windows.count(account, 'alice', 2)).toMatchObject({ limit: 2 });
    expect(windows.reserve([{ rate: account, key: 'alice', limit: 2 }])).toMatchObject({ granted: false, limit: 2 });
    for (let event = 2; event < 7; event++) expect(windows.count(account, 'alice', 7)).toBeUndefined();
    expect(windows.count(account, 'alice')).toMatchObject({ limit: 5 });
  });

  test('refuses a rate that another limiter defined', () => {
    const { windows } = open();
    expect(() => windows.count(open().account, 'alice')).toThrow('login.account was not defined by this limiter.');
  });
});

describe('MemoryRateLimiter.reserve', () => {
  test('grants exactly five of a hundred parallel attempts, and none after those have failed', () => {
    const { windows, account, source } = open();
    const keys: RateKey[] = [
      { rate: account, key: 'alice' },
      { rate: source, key: '203.0.113.7' },
    ];
    const answers = Array.from({ length: 100 }, () => windows.reserve(keys));
    const reservations = answers.filter((answer) => answer.granted);
    expect(reservations).toHaveLength(5);
    for (const reservation of reservations) reservation.commit();
    expect(windows.reserve(keys)).toMatchObject({ granted: false, rate: 'login.account', retryAfterMs: 60_000 });
    expect(windows.peek(source, '203.0.113.7')).toMatchObject({ counted: 5, inFlight: 0 });
  });

  test('counts under no key if one of them refuses, and reports the window that closes last', () => {
    const { clock, windows, account, source } = open();
    for (let event = 0; event < 30; event++) windows.count(source, 'noisy');
    clock.advance(1000);
    expect(
      windows.reserve([
        { rate: account, key: 'bob' },
        { rate: source, key: 'noisy' },
      ]),
    ).toMatchObject({
      rate: 'login.source',
      retryAfterMs: 59_000,
    });
    expect(windows.peek(account, 'bob')).toMatchObject({ counted: 0, inFlight: 0 });
    for (let event = 0; event < 5; event++) windows.count(account, 'bob');
    expect(
      windows.reserve([
        { rate: account, key: 'bob' },
        { rate: source, key: 'noisy' },
      ]),
    ).toMatchObject({
      rate: 'login.account',
      retryAfterMs: 60_000,
    });
  });

  test('clears the history of every key on reset, but not other reservations', () => {
    const { windows, account, source } = open();
    const keys: RateKey[] = [
      { rate: account, key: 'alice' },
      { rate: source, key: 's' },
    ];
    for (let failure = 0; failure < 3; failure++) expectGranted(windows.reserve(keys)).commit();
    const other = expectGranted(windows.reserve(keys));
    expectGranted(windows.reserve(keys)).reset();
    expect(windows.peek(account, 'alice')).toMatchObject({ counted: 0, inFlight: 1 });
    expect(windows.peek(source, 's')).toMatchObject({ counted: 0, inFlight: 1 });
    other.commit();
    expect(windows.peek(account, 'alice')).toMatchObject({ counted: 1, inFlight: 0 });
  });

  test('keeps no window for a released reservation', () => {
    const { windows, account } = open();
    expectGranted(windows.reserve([{ rate: account, key: 'alice' }])).release();
    expect(windows.stats.keys).toBe(0);
  });

  test('settles once: later calls do nothing', () => {
    const { windows, account } = open();
    const reservation = expectGranted(windows.reserve([{ rate: account, key: 'alice' }]));
    reservation.commit();
    reservation.release();
    reservation.reset();
    expect(windows.peek(account, 'alice')).toMatchObject({ counted: 1, inFlight: 0 });
  });

  test('starts the window at the first event that counts, not at a released one', () => {
    const { clock, windows, account } = open();
    const abandoned = expectGranted(windows.reserve([{ rate: account, key: 'alice' }]));
    clock.advance(10_000);
    const failed = expectGranted(windows.reserve([{ rate: account, key: 'alice' }]));
    abandoned.release();
    clock.advance(5_000);
    failed.commit();
    expect(windows.peek(account, 'alice').closesInMs).toBe(55_000);
  });

  test('does not count an event in a later window than the one it was reserved in', () => {
    const { clock, windows, account } = open();
    const slow = expectGranted(windows.reserve([{ rate: account, key: 'alice' }]));
    clock.advance(60_000);
    windows.count(account, 'alice');
    slow.commit();
    expect(windows.peek(account, 'alice')).toMatchObject({ counted: 1, inFlight: 0 });
  });

  test.each(['fixed-window', 'gcra'] as const)(
    'takes the cost of each key, and returns exactly that on release (%s)',
    (algorithm) => {
      const { windows } = open();
      const rate = windows.define('volume', { limit: 10, windowMs: 60_000, algorithm });
      const reserve = (cost: number) => windows.reserve([{ rate, key: 'a', cost }]);
      const [kept, returned] = [expectGranted(reserve(4)), expectGranted(reserve(6))];
      expect(reserve(1).granted).toBe(false);
      returned.release();
      returned.release();
      kept.commit();
      expect(windows.peek(rate, 'a')).toMatchObject({ counted: 4, inFlight: 0 });
      expect(reserve(7).granted).toBe(false);
      const costly = expectGranted(reserve(6));
      windows.define('volume', { limit: 20, windowMs: 60_000, algorithm });
      costly.commit();
      expect(reserve(20).granted).toBe(false);
      windows.reset(rate, 'a');
      expectGranted(reserve(1_000_000)).release();
      expect(windows.stats.keys).toBe(0);
      expect(() => reserve(0)).toThrow(RangeError);
    },
  );

  test('starts the window of costs at the first event that counts', () => {
    const { clock, windows } = open();
    const rate = windows.define('volume', { limit: 10, windowMs: 60_000 });
    const reserve = (cost: number) => expectGranted(windows.reserve([{ rate, key: 'a', cost }]));
    const cheap = reserve(1);
    clock.advance(10_000);
    const costly = reserve(3);
    clock.advance(10_000);
    cheap.commit();
    expect(windows.peek(rate, 'a').closesInMs).toBe(40_000);
    costly.release();
    expect(windows.peek(rate, 'a')).toMatchObject({ counted: 1, inFlight: 0, closesInMs: 40_000 });
  });

  test('refuses the same key twice', () => {
    const { windows, account } = open();
    const rateKey = { rate: account, key: 'alice' };
    expect(() => windows.reserve([rateKey, { ...rateKey }])).toThrow('must not name the same key of a rate twice');
  });
});

test('reset deletes the window of a key with its reservations, and returns whether there was one', () => {
  const { windows, account } = open();
  const reservation = expectGranted(windows.reserve([{ rate: account, key: 'alice' }]));
  expect(windows.reset(account, 'alice')).toBe(true);
  expect(windows.reset(account, 'alice')).toBe(false);
  reservation.commit();
  expect(windows.peek(account, 'alice').counted).toBe(0);
});

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  'agrees with the reference model over 5,000 random operations (seed %i)',
  (seed) => {
    const random = seededRandom(seed);
    const clock = new ManualClock();
    const windows = new MemoryRateLimiter({ clock });
    const [limit, windowMs] = [1 + Math.floor(random() * 6), 50 + Math.floor(random() * 400)];
    const rate = windows.define('r', { limit, windowMs });
    const model = new ReferenceLimiter(limit, windowMs);
    const pending: { key: string; actual: Reservation; expected: ReturnType<ReferenceLimiter['reserve']> }[] = [];
    let now = 0;
    for (let step = 0; step < 5_000; step++) {
      const key = `key-${Math.floor(random() * (seed * 5))}`;
      const dice = random();
      if (dice < 0.3) {
        const elapsed = Math.floor(random() * 12);
        now += elapsed;
        clock.advance(elapsed);
      } else if (dice < 0.7) {
        const wait = model.wait(key, now);
        const answer = windows.reserve([{ rate, key }]);
        expect(answer.granted ? 0 : answer.retryAfterMs).toBe(wait);
        if (answer.granted) pending.push({ key, actual: answer, expected: model.reserve(key, now) });
      } else if (pending.length > 0) {
        const [taken] = pending.splice(Math.floor(random() * pending.length), 1);
        const settlement = (['commit', 'commit', 'reset', 'release'] as const)[Math.floor(random() * 4)]!;
        void taken!.actual[settlement]();
        model.settle(taken!.key, taken!.expected, settlement, now);
      }
      const { counted, inFlight } = windows.peek(rate, key);
      expect({ counted, inFlight }).toEqual(model.counts(key, now));
    }
    clock.advance(10_000);
    windows.sweep();
    expect(windows.stats.keys).toBe(0);
  },
);
