import { ManualClock } from './clock.js';
import { RateWindows } from './rate-windows.js';
import type { Claim, RateRefusal, Reservation } from './rate.js';
import { NaiveWindows } from './testing/naive-windows.js';
import { seededRandom } from './testing/random.js';

function open(maxKeys?: number) {
  const clock = new ManualClock(5_000);
  const windows = new RateWindows({ clock, ...(maxKeys ? { maxKeys } : {}) });
  const account = windows.define('login.account', { limit: 5, windowMs: 60_000 });
  const source = windows.define('login.source', { limit: 30, windowMs: 60_000 });
  return { clock, windows, account, source };
}

const granted = (answer: Reservation | RateRefusal): Reservation => {
  if (!answer.granted) throw new Error(`refused by ${answer.rate}`);
  return answer;
};

describe('RateWindows.count', () => {
  test('counts up to the limit, then refuses until the window that the first event opened closes', () => {
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

  test('keeps a refusal out of the window: it neither counts nor moves its end', () => {
    const { clock, windows, account } = open();
    for (let event = 0; event < 50; event++) windows.count(account, 'alice');
    expect(windows.peek(account, 'alice')).toMatchObject({ counted: 5, closesInMs: 60_000 });
    clock.advance(60_000);
    expect(windows.peek(account, 'alice')).toMatchObject({ counted: 0, closesInMs: 0 });
  });

  test('tells keys, and one key under two rates, apart', () => {
    const { windows, account, source } = open();
    for (let event = 0; event < 5; event++) windows.count(account, 'x');
    expect(windows.count(account, 'y')).toBeUndefined();
    expect(windows.count(source, 'x')).toBeUndefined();
    expect(windows.peek(source, 'x').counted).toBe(1);
  });

  test('tells texts apart whose code units fold to the same bytes', () => {
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

  test('takes new terms for a name that is defined again, and keeps what is counted', () => {
    const { windows, account } = open();
    for (let event = 0; event < 3; event++) windows.count(account, 'alice');
    expect(windows.define('login.account', { limit: 3, windowMs: 60_000 })).toBe(account);
    expect(windows.count(account, 'alice')).toMatchObject({ limit: 3 });
  });

  test.each([
    [{ limit: 0, windowMs: 1000 }, /the limit/],
    [{ limit: 1.5, windowMs: 1000 }, /the limit/],
    [{ limit: 1, windowMs: 0 }, /the window/],
    [{ limit: 1, windowMs: 2 ** 31 }, /the window/],
  ])('refuses terms that make no sense: %j', (terms, message) => {
    expect(() => open().windows.define('ring', terms)).toThrow(message);
  });

  test('refuses a rate that another object defined', () => {
    const { windows } = open();
    expect(() => windows.count(open().account, 'alice')).toThrow('login.account was not defined here.');
  });
});

describe('RateWindows.reserve', () => {
  test('lets exactly five of a hundred parallel attempts through, and none after they failed', () => {
    const { windows, account, source } = open();
    const claims: Claim[] = [
      { rate: account, key: 'alice' },
      { rate: source, key: '203.0.113.7' },
    ];
    const answers = Array.from({ length: 100 }, () => windows.reserve(claims));
    const through = answers.filter((answer) => answer.granted);
    expect(through).toHaveLength(5);
    for (const reservation of through) reservation.keep();
    expect(windows.reserve(claims)).toMatchObject({ granted: false, rate: 'login.account', retryAfterMs: 60_000 });
    expect(windows.peek(source, '203.0.113.7')).toMatchObject({ counted: 5, inFlight: 0 });
  });

  test('takes nothing from an open window when another one refuses, and reports the last to reopen', () => {
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

  test('forgets the history of every key on success, but not what others have in flight', () => {
    const { windows, account, source } = open();
    const claims: Claim[] = [
      { rate: account, key: 'alice' },
      { rate: source, key: 's' },
    ];
    for (let failure = 0; failure < 3; failure++) granted(windows.reserve(claims)).keep();
    const other = granted(windows.reserve(claims));
    granted(windows.reserve(claims)).forget();
    expect(windows.peek(account, 'alice')).toMatchObject({ counted: 0, inFlight: 1 });
    expect(windows.peek(source, 's')).toMatchObject({ counted: 0, inFlight: 1 });
    other.keep();
    expect(windows.peek(account, 'alice')).toMatchObject({ counted: 1, inFlight: 0 });
  });

  test('leaves no trace of what is released', () => {
    const { windows, account } = open();
    granted(windows.reserve([{ rate: account, key: 'alice' }])).release();
    expect(windows.stats.keys).toBe(0);
  });

  test('settles once: whatever comes after the first word does nothing', () => {
    const { windows, account } = open();
    const reservation = granted(windows.reserve([{ rate: account, key: 'alice' }]));
    reservation.keep();
    reservation.release();
    reservation.forget();
    expect(windows.peek(account, 'alice')).toMatchObject({ counted: 1, inFlight: 0 });
  });

  test('anchors the window at the first event that counts, not at one that was released', () => {
    const { clock, windows, account } = open();
    const abandoned = granted(windows.reserve([{ rate: account, key: 'alice' }]));
    clock.advance(10_000);
    const failed = granted(windows.reserve([{ rate: account, key: 'alice' }]));
    abandoned.release();
    clock.advance(5_000);
    failed.keep();
    expect(windows.peek(account, 'alice').closesInMs).toBe(55_000);
  });

  test('keeps what outlived its window out of the next one', () => {
    const { clock, windows, account } = open();
    const slow = granted(windows.reserve([{ rate: account, key: 'alice' }]));
    clock.advance(60_000);
    windows.count(account, 'alice');
    slow.keep();
    expect(windows.peek(account, 'alice')).toMatchObject({ counted: 1, inFlight: 0 });
  });

  test('refuses the same claim twice', () => {
    const { windows, account } = open();
    const claim = { rate: account, key: 'alice' };
    expect(() => windows.reserve([claim, { ...claim }])).toThrow('names each key of a rate once');
  });
});

test('forgive wipes a key, in flight or not, and says whether there was anything', () => {
  const { windows, account } = open();
  const reservation = granted(windows.reserve([{ rate: account, key: 'alice' }]));
  expect(windows.forgive(account, 'alice')).toBe(true);
  expect(windows.forgive(account, 'alice')).toBe(false);
  reservation.keep();
  expect(windows.peek(account, 'alice').counted).toBe(0);
});

test.each([1, 2, 3, 4, 5, 6, 7, 8])('agrees with the naive model over 5,000 random operations (seed %i)', (seed) => {
  const random = seededRandom(seed);
  const clock = new ManualClock();
  const windows = new RateWindows({ clock });
  const [limit, windowMs] = [1 + Math.floor(random() * 6), 50 + Math.floor(random() * 400)];
  const rate = windows.define('r', { limit, windowMs });
  const model = new NaiveWindows(limit, windowMs);
  const pending: { key: string; real: Reservation; naive: ReturnType<NaiveWindows['reserve']> }[] = [];
  let now = 0;
  for (let step = 0; step < 5_000; step++) {
    const key = `key-${Math.floor(random() * (seed * 5))}`;
    const dice = random();
    if (dice < 0.3) {
      const passed = Math.floor(random() * 12);
      now += passed;
      clock.advance(passed);
    } else if (dice < 0.7) {
      const wait = model.wait(key, now);
      const answer = windows.reserve([{ rate, key }]);
      expect(answer.granted ? 0 : answer.retryAfterMs).toBe(wait);
      if (answer.granted) pending.push({ key, real: answer, naive: model.reserve(key, now) });
    } else if (pending.length > 0) {
      const [taken] = pending.splice(Math.floor(random() * pending.length), 1);
      const outcome = (['keep', 'keep', 'forget', 'release'] as const)[Math.floor(random() * 4)]!;
      void taken!.real[outcome]();
      model.settle(taken!.key, taken!.naive, outcome, now);
    }
    const { counted, inFlight } = windows.peek(rate, key);
    expect({ counted, inFlight }).toEqual(model.counts(key, now));
  }
  clock.advance(10_000);
  windows.sweep();
  expect(windows.stats.keys).toBe(0);
});
