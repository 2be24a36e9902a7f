import { ruleOf } from '@headgate/limit-rules';
import { ManualClock, MemoryRateLimiter, RateExceeded } from '@headgate/limits-core';
import { jsonResponse } from '@headgate/homeserver-contracts';
import { parseConfig } from '../config/config.js';
import { LiveConfig } from '../config/live-config.js';
import { type RulePart, Rules } from './rules.js';
import { AsyncLimiter } from '@headgate/limit-rules/testing';

const HERE = { address: '192.0.2.1', source: '192.0.2.1' };

function open(toml = '', where: 'here' | 'shared' = 'here') {
  const outcomes: string[] = [];
  const clock = new ManualClock();
  const windows = new MemoryRateLimiter({ clock });
  const store = where === 'here' ? windows : new AsyncLimiter(windows);
  const config = new LiveConfig(parseConfig(toml));
  const rules = new Rules(store, config, {
    onGranted: (rule) => outcomes.push(`${rule} granted`),
    onRefused: ({ rule }, _facts, isShadow) => outcomes.push(`${rule} ${isShadow ? 'shadow_refused' : 'refused'}`),
  });
  const run = async (part: RulePart, status: number) =>
    rules.run(HERE, [part], async () => jsonResponse(status, {})).then(({ status }) => status);
  const login = (status: number) => run({ event: 'login', account: 'user:nora' }, status);
  const fail = () => login(403);
  const ring = async () => rules.admit(HERE, [{ event: 'ring', user: '@a:b' }]);
  const peek = (rate: string, key: string) => windows.peek(windows.rate(rate)!, key);
  return { rules, config, windows, clock, outcomes, login, fail, ring, peek };
}

const times = async (count: number, work: () => unknown) => {
  for (let i = 0; i < count; i++) await work();
};

describe.each(['here', 'shared'] as const)('Rules over windows that are %s', (where) => {
  test('are by default the rates of the contract, and nothing else', () => {
    const { windows, rules } = open('', where);
    const terms = windows.rates.map(({ name, limit, windowMs, algorithm }) => [name, limit, windowMs, algorithm]);
    expect(terms).toEqual([
      ['login_account', 5, 60_000, 'fixed-window'],
      ['login_source', 30, 60_000, 'fixed-window'],
      ['register', 5, 300_000, 'fixed-window'],
      ['ring', 10, 60_000, 'fixed-window'],
      ['openid_token', 20, 60_000, 'fixed-window'],
      ['sfu_credential', 20, 60_000, 'fixed-window'],
    ]);
    for (const event of ['message', 'state', 'join', 'invite', 'create_room', 'upload', 'federation'] as const) {
      expect(rules.count(event)).toBe(false);
    }
  });

  test('follow the timeline of a login: five failures, a refusal of the correct password, a new window', async () => {
    const { login, fail, clock } = open('', where);
    await fail();
    for (let i = 1; i < 5; i++) {
      clock.advance(10_000);
      await fail();
    }
    clock.advance(10_000);
    await expect(login(200)).rejects.toMatchObject({ retryAfterMs: 10_000 });
    clock.advance(10_000);
    await login(200);
    await times(5, fail);
    await expect(login(200)).rejects.toThrow(RateExceeded);
  });

  test('let exactly five of a hundred parallel attempts reach the password', async () => {
    const { fail } = open('', where);
    const attempts = await Promise.allSettled(Array.from({ length: 100 }, fail));
    expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
  });

  test('reserve nothing for the account when the source refuses', async () => {
    const { windows, login, peek } = open('', where);
    await times(30, () => windows.count(windows.rate('login_source')!, '192.0.2.1'));
    await expect(login(200)).rejects.toThrow(RateExceeded);
    expect(peek('login_account', 'user:nora')).toMatchObject({ counted: 0, inFlight: 0 });
  });

  test('settle a login that the homeserver refuses with an error, or that fails, by its status', async () => {
    const { rules, peek } = open('', where);
    const attempt = (error: object) =>
      rules.run(HERE, [{ event: 'login', account: 'user:nora' }], async () => {
        throw Object.assign(new Error('refused'), error);
      });
    await expect(attempt({ status: 403 })).rejects.toThrow('refused');
    await expect(attempt({ status: 502 })).rejects.toThrow('refused');
    await expect(attempt({})).rejects.toThrow('refused');
    expect(peek('login_account', 'user:nora')).toMatchObject({ counted: 1, inFlight: 0 });
  });

  test('keep the failures of the source when a success clears its account only', async () => {
    const { login, fail, peek } = open('[ratelimit]\nlogin_success_clears_source = false', where);
    await times(3, fail);
    await login(200);
    expect(peek('login_account', 'user:nora')).toMatchObject({ counted: 0, inFlight: 0 });
    expect(peek('login_source', '192.0.2.1')).toMatchObject({ counted: 3, inFlight: 0 });
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
    await expect(login(200)).rejects.toMatchObject({ rate: 'login_source' });
  });

  test('have the limits, windows and keys that the configuration sets', async () => {
    const toml = `
      [rates.login_account]
      limit = 2
      window = "400d"
      by = "account_source"
      [rates.ring]
      limit = 3
      window = "10s"
      algorithm = "gcra"`;
    const { windows, fail, ring, peek } = open(toml, where);
    await times(2, fail);
    await expect(fail()).rejects.toMatchObject({ rate: 'login_account', retryAfterMs: 400 * 86_400_000 });
    expect(peek('login_account', 'user:nora 192.0.2.1').counted).toBe(2);
    await times(3, ring);
    await expect(ring()).rejects.toMatchObject({ refusal: { rule: 'ring', by: 'user', key: '@a:b', reason: 'limit' } });
    expect(windows.rate('ring')).toMatchObject({ limit: 3, windowMs: 10_000, algorithm: 'gcra' });
  });
});

test('Rules report that they have had more names than a limiter can hold, and still accept the names that it has', () => {
  const { rules, config } = open();
  const block = { after: 1, withinMs: 1, forMs: 1, maxMs: 1, forgetMs: 1 };
  const named = (name: string) => ruleOf({ name, on: ['message'], by: 'user', limit: 1, windowMs: 1, block });
  const { exempt } = config.current.rules;
  const all = Array.from({ length: 62 }, (_, n) => named(`rule${n}`));
  expect(rules.problemsOf({ rules: all, exempt })).toEqual([]);
  expect(rules.problemsOf({ rules: [...all, named('one_more')], exempt })).toEqual([
    'rules have been renamed too often since the start: restart to apply them',
  ]);
});

test('Rules over windows in this process decide synchronously', () => {
  const { rules } = open();
  expect(rules.admit(HERE, [{ event: 'ring', user: '@a:b' }])).not.toBeInstanceOf(Promise);
  expect(rules.admit(HERE, [{ event: 'login', account: 'a' }])).not.toBeInstanceOf(Promise);
});
