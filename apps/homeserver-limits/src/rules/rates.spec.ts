import {
  type CountedKey,
  type RateKey,
  type RateOptions,
  ManualClock,
  type Rate,
  RateExceeded,
  RateLimiter,
  MemoryRateLimiter,
} from '@headgate/limits-core';
import { parseConfig } from '../config/config.js';
import { LiveConfig } from '../config/live-config.js';
import { Rates } from './rates.js';

/** Windows that respond asynchronously, as those on a server do. */
class AsyncLimiter extends RateLimiter {
  constructor(private readonly windows: MemoryRateLimiter) {
    super();
  }

  override define = (name: string, terms: RateOptions) => this.windows.define(name, terms);
  override count = async (rate: Rate, key: string) => this.windows.count(rate, key);
  override countAll = async (keys: readonly CountedKey[]) => this.windows.countAll(keys);
  override reserve = async (claims: readonly RateKey[]) => this.windows.reserve(claims);
  override peek = async (rate: Rate, key: string) => this.windows.peek(rate, key);
  override reset = async (rate: Rate, key: string) => this.windows.reset(rate, key);
}

function open(toml = '', where: 'here' | 'shared' = 'here') {
  const outcomes: string[] = [];
  const clock = new ManualClock();
  const windows = new MemoryRateLimiter({ clock });
  const store = where === 'here' ? windows : new AsyncLimiter(windows);
  const rates = new Rates(store, new LiveConfig(parseConfig(toml)), (rule, outcome) =>
    outcomes.push(`${rule} ${outcome}`),
  );
  const login = async () =>
    rates.reserve([
      { rate: rates.loginAccount, key: 'user:nora' },
      { rate: rates.loginSource, key: '192.0.2.1' },
    ]);
  const fail = async () => (await login()).commit();
  const ring = async () => rates.count(rates.ring, '@a:b');
  return { rates, windows, clock, outcomes, login, fail, ring };
}

const times = async (count: number, work: () => unknown) => {
  for (let i = 0; i < count; i++) await work();
};

describe.each(['here', 'shared'] as const)('Rates over windows that are %s', (where) => {
  test('have the limits of the contract', () => {
    const { windows } = open('', where);
    const terms = windows.rates.map(({ name, limit, windowMs }) => [name, limit, windowMs]);
    expect(terms).toEqual([
      ['login_account', 5, 60_000],
      ['login_source', 30, 60_000],
      ['register', 5, 300_000],
      ['ring', 10, 60_000],
      ['openid_token', 20, 60_000],
      ['sfu_credential', 20, 60_000],
    ]);
  });

  test('follow the timeline of a login: five failures, a refusal of the correct password, a new window', async () => {
    const { login, fail, clock } = open('', where);
    await fail();
    for (let i = 1; i < 5; i++) {
      clock.advance(10_000);
      await fail();
    }
    clock.advance(10_000);
    await expect(login()).rejects.toMatchObject({ retryAfterMs: 10_000 });
    clock.advance(10_000);
    await (await login()).reset();
    await times(5, fail);
    await expect(login()).rejects.toThrow(RateExceeded);
  });

  test('let exactly five of a hundred parallel attempts reach the password', async () => {
    const { login } = open('', where);
    const attempts = await Promise.allSettled(Array.from({ length: 100 }, login));
    expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
  });

  test('reserve nothing for the account when the source refuses', async () => {
    const { rates, windows, login } = open('', where);
    await times(30, () => windows.count(rates.loginSource, '192.0.2.1'));
    await expect(login()).rejects.toThrow(RateExceeded);
    expect(windows.peek(rates.loginAccount, 'user:nora')).toMatchObject({ counted: 0, inFlight: 0 });
  });

  test('refuse nothing when they are switched off', async () => {
    const { windows, fail, ring } = open('[ratelimit]\nenabled = false', where);
    await times(50, fail);
    await times(50, ring);
    expect(windows.stats.keys).toBe(0);
  });

  test('count and report in shadow mode, and refuse no request', async () => {
    const { login, fail, ring, outcomes } = open('[ratelimit]\nshadow = ["ring", "login_account"]', where);
    await times(12, ring);
    expect(outcomes.filter((outcome) => outcome === 'ring shadow_refused')).toHaveLength(2);
    await times(30, fail);
    expect(outcomes.filter((outcome) => outcome === 'login_account shadow_refused')).toHaveLength(25);
    await expect(login()).rejects.toMatchObject({ rate: 'login_source' });
  });
});

test('Rates over windows in this process decide synchronously', () => {
  const { rates } = open();
  expect(rates.count(rates.ring, '@a:b')).toBeUndefined();
  expect(rates.reserve([{ rate: rates.loginSource, key: '192.0.2.1' }])).not.toBeInstanceOf(Promise);
});
