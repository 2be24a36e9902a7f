import { ManualClock, MemoryRateLimiter } from '@headgate/limits-core';
import { CONTRACT_RULES, ruleOf } from './contract-rules.js';
import type { LimitOverrides } from './limit-overrides.js';
import { RuleEngine } from './rule-engine.js';
import type { Admission, Exemptions, RequestOutcome, Rule, RuleFacts, RuleRefusal } from './rule.js';
import { AsyncLimiter } from './testing/async-limiter.js';

const NO_ONE: Exemptions = { users: [], appservices: [], networks: [] };
const HERE = { address: '192.0.2.1', source: '192.0.2.1' };
const MINUTE_MS = 60_000;

const messages = ruleOf({ name: 'messages', on: ['message'], by: 'user', limit: 3, windowMs: MINUTE_MS });

describe.each(['here', 'on a server'] as const)('RuleEngine over windows %s', (where) => {
  function open(rules: readonly Rule[], exempt = NO_ONE, overrides?: LimitOverrides) {
    const clock = new ManualClock();
    const windows = new MemoryRateLimiter({ clock });
    const server = new AsyncLimiter(windows);
    const log: string[] = [];
    const refusals: RuleRefusal[] = [];
    const listener = {
      onGranted: (rule: string) => void log.push(`${rule} granted`),
      onRefused: (refusal: RuleRefusal, _facts: RuleFacts, isShadow: boolean) => {
        refusals.push(refusal);
        log.push(`${refusal.rule} ${isShadow ? 'shadow_' : ''}refused`);
      },
    };
    const engine = new RuleEngine(where === 'here' ? windows : server, listener, { rules, exempt }, overrides);
    const admit = async (
      ...parts: (Partial<RuleFacts> & Pick<RuleFacts, 'event'>)[]
    ): Promise<Admission | RuleRefusal> => engine.admit(parts.map((part) => ({ ...HERE, ...part })));
    const passes = async (...parts: Parameters<typeof admit>) => (await admit(...parts)).granted;
    const finish = async (part: Parameters<typeof admit>[0], outcome: RequestOutcome) => {
      const answer = await admit(part);
      if (answer.granted) await answer.settle(outcome);
      return answer.granted;
    };
    const count = async (times: number, work: () => Promise<boolean>) => {
      let passed = 0;
      for (let n = 0; n < times; n++) if (await work()) passed++;
      return passed;
    };
    return { clock, windows, server, engine, log, refusals, admit, passes, finish, count };
  }

  test('takes the amount of a request from the limit, times its cost, and all of it for more', async () => {
    const rule = ruleOf({ ...messages, on: ['key_query'], limit: 10, costs: { key_query: 2 } });
    const { passes } = open([rule]);
    const query = (user: string, amount: number) => passes({ event: 'key_query', user, amount });
    expect(await query('@a:x', 4)).toBe(true);
    expect(await query('@a:x', 2)).toBe(false);
    expect(await query('@a:x', 0)).toBe(true);
    expect(await query('@b:x', 1e9)).toBe(true);
    expect(await query('@b:x', 0)).toBe(false);
  });

  test('counts the bytes of a response for rules by bytes only', async () => {
    const requests = ruleOf({ ...messages, on: ['download'], limit: 2 });
    const { passes, log } = open([requests, ruleOf({ ...requests, name: 'volume', limit: 100, unit: 'bytes' })]);
    const download = (part: Partial<RuleFacts> = {}) => passes({ event: 'download', user: '@a:x', ...part });
    expect(await download()).toBe(true);
    for (const granted of [true, true, false]) expect(await download({ bytes: 40, isResponse: true })).toBe(granted);
    expect(log.filter((line) => line.startsWith('messages'))).toEqual(['messages granted']);
  });

  test('keeps nothing of a recipient for a request that the homeserver refuses', async () => {
    const rule = ruleOf({ ...messages, on: ['request_token'], by: 'recipient', limit: 2 });
    const { finish } = open([rule, ruleOf({ ...rule, name: 'source', by: 'source', limit: 6 })]);
    const ask = (outcome: RequestOutcome) => finish({ event: 'request_token', recipient: 'email:x' }, outcome);
    for (const outcome of ['rejected', 'forbidden', 'unauthenticated'] as const) expect(await ask(outcome)).toBe(true);
    expect(await ask('success')).toBe(true);
    expect(await ask('other')).toBe(true);
    expect(await ask('rejected')).toBe(false);
  });

  test('asks for the limit of each key in the middle of a decision', async () => {
    const limits = new Map([['@a:x', 5]]);
    const { passes, count, refusals } = open([messages], NO_ONE, { limitOf: (_rule, key) => limits.get(key) });
    const send = (user: string) => () => passes({ event: 'message', user });
    expect(await count(9, send('@a:x'))).toBe(5);
    expect(await count(9, send('@b:x'))).toBe(3);
    expect([...new Set(refusals.map(({ limit }) => limit))]).toEqual([5, 3]);
    limits.set('@b:x', 4);
    expect(await count(9, send('@b:x'))).toBe(1);
    limits.set('@a:x', 1);
    expect(await count(9, send('@a:x'))).toBe(0);
  });

  test('refuses beyond the limit of each key, and says which rule refused whom and why', async () => {
    const { admit, passes, count, log } = open([messages]);
    const send = (user: string) => passes({ event: 'message', user });
    expect(await count(5, () => send('@a:x'))).toBe(3);
    expect(await send('@b:x')).toBe(true);
    expect(await admit({ event: 'message', user: '@a:x' })).toEqual({
      granted: false,
      rule: 'messages',
      event: 'message',
      by: 'user',
      key: '@a:x',
      limit: 3,
      windowMs: MINUTE_MS,
      reason: 'limit',
      retryAfterMs: MINUTE_MS,
    });
    expect(log.slice(0, 5)).toEqual([
      ...Array<string>(3).fill('messages granted'),
      ...Array<string>(2).fill('messages refused'),
    ]);
  });

  test.each([
    ['account', { account: 'user:a' }],
    ['source', {}],
    ['room', { room: '!r:x' }],
    ['origin', { origin: 'x' }],
    ['target_server', { targetServer: 'y' }],
    ['server', {}],
  ] as const)('counts by %s', async (by, facts) => {
    const { passes, count } = open([ruleOf({ ...messages, by })]);
    expect(await count(5, () => passes({ event: 'message', ...facts }))).toBe(3);
    const other = { account: 'user:b', source: '192.0.2.2', room: '!s:x', origin: 'z', targetServer: 'z' };
    expect(await passes({ event: 'message', ...other })).toBe(by !== 'server');
  });

  test('counts a request whose process was killed, under rules of failures and under shared keys too', async () => {
    const [account] = CONTRACT_RULES;
    const { finish, count } = open([account!, ruleOf({ ...messages, by: 'room' })]);
    const login = () => finish({ event: 'login', account: 'user:a' }, 'lost');
    expect(await count(20, login)).toBe(5);
    const send = () => finish({ event: 'message', room: '!r:x' }, 'lost');
    expect(await count(20, send)).toBe(3);
  });

  test('does not apply to a request without the key, or to another event', async () => {
    const { passes, count, windows } = open([messages]);
    expect(await count(5, () => passes({ event: 'message' }))).toBe(5);
    expect(await count(5, () => passes({ event: 'join', user: '@a:x' }))).toBe(5);
    expect(windows.stats.keys).toBe(0);
  });

  test('does not let a stranger lock the owner out of an account that is counted by account and source', async () => {
    const [account] = CONTRACT_RULES;
    const { finish, count } = open([{ ...account!, by: 'account_source' }]);
    const login = (source: string, outcome: RequestOutcome) =>
      finish({ event: 'login', account: 'user:a', source }, outcome);
    expect(await count(20, () => login('198.51.100.7', 'forbidden'))).toBe(5);
    expect(await login('192.0.2.1', 'success')).toBe(true);
    expect(await login('198.51.100.7', 'success')).toBe(false);
  });

  test('counts a request under every rule or none', async () => {
    const perServer = ruleOf({ name: 'everyone', on: ['message'], by: 'server', limit: 4, windowMs: 2 * MINUTE_MS });
    const { finish, admit, windows, engine } = open([messages, perServer]);
    const send = (user: string) => finish({ event: 'message', user }, 'success');
    for (const user of ['@a:x', '@b:x', '@c:x', '@d:x']) expect(await send(user)).toBe(true);
    expect(await admit({ event: 'message', user: '@e:x' })).toMatchObject({
      rule: 'everyone',
      retryAfterMs: 2 * MINUTE_MS,
    });
    expect(windows.peek(windows.rate('messages')!, '@e:x').counted).toBe(0);
    expect(engine.rulesOn('message').map(({ name }) => name)).toEqual(['messages', 'everyone']);
  });

  test('counts all parts of a request together, with their costs', async () => {
    const invites = ruleOf({
      name: 'invites',
      on: ['invite', 'create_room'],
      by: 'user',
      limit: 10,
      windowMs: MINUTE_MS,
      costs: { create_room: 4 },
    });
    const { passes, windows } = open([invites]);
    const user = '@a:x';
    expect(await passes({ event: 'create_room', user }, { event: 'invite', user }, { event: 'invite', user })).toBe(
      true,
    );
    expect(windows.peek(windows.rate('invites')!, user).counted).toBe(6);
    expect(await passes({ event: 'create_room', user }, { event: 'invite', user })).toBe(false);
    expect(await passes({ event: 'create_room', user })).toBe(true);
  });

  test('counts bytes, also beyond the range of a window, in units of a millionth of the limit', async () => {
    const GIB = 2 ** 30;
    const volume = ruleOf({
      name: 'volume',
      on: ['upload'],
      by: 'user',
      limit: 10 * GIB,
      windowMs: 86_400_000,
      unit: 'bytes',
    });
    const { passes, count } = open([volume]);
    const upload = (bytes: number) => passes({ event: 'upload', user: '@a:x', bytes });
    const passed = await count(300, () => upload(50 * 2 ** 20));
    expect(passed).toBeGreaterThanOrEqual(203);
    expect(passed).toBeLessThanOrEqual(204);
    expect(await upload(GIB)).toBe(false);
  });

  test('clears the failures of a login that succeeds, and keeps those of a source if it is configured to', async () => {
    const [account, source] = CONTRACT_RULES;
    const { finish, windows, count } = open([account!, { ...source!, successClears: false }]);
    const login = (outcome: RequestOutcome) => finish({ event: 'login', account: 'user:a' }, outcome);
    expect(await count(4, () => login('forbidden'))).toBe(4);
    await login('other');
    await login('success');
    expect(windows.peek(windows.rate('login_account')!, 'user:a')).toMatchObject({ counted: 0, inFlight: 0 });
    expect(windows.peek(windows.rate('login_source')!, '192.0.2.1')).toMatchObject({ counted: 4, inFlight: 0 });
  });

  test('counts a claimed origin only if the homeserver accepts the signature', async () => {
    const origins = ruleOf({
      name: 'origins',
      on: ['federation'],
      by: 'origin',
      limit: 3,
      windowMs: MINUTE_MS,
      counts: 'authenticated',
    });
    const { finish, count } = open([origins]);
    const request = (outcome: RequestOutcome) => finish({ event: 'federation', origin: 'victim.example' }, outcome);
    expect(await count(50, () => request('unauthenticated'))).toBe(50);
    // Dendrite answers 400 to a body of another type before it verifies the signature.
    expect(await count(50, () => request('rejected'))).toBe(50);
    expect(await count(5, () => request('success'))).toBe(3);
    expect(await request('unauthenticated')).toBe(false);
  });

  describe.each([
    ['room', { room: '!r:x' }],
    ['target_server', { targetServer: 'y' }],
    ['server', {}],
  ] as const)('by %s, which callers share', (by, facts) => {
    const shared = ruleOf({ name: 'shared', on: ['message', 'state'], by, limit: 5, windowMs: 60 * MINUTE_MS });
    const key = Object.values(facts)[0] ?? '*';
    const message = { event: 'message', ...facts } as const;

    test.each(['every', 'authenticated'] as const)(
      'counts no request that the homeserver refuses for lack of a right (%s)',
      async (counts) => {
        const { finish, count, windows } = open([{ ...shared, counts }]);
        expect(await count(20, () => finish(message, 'unauthenticated'))).toBe(20);
        expect(await count(20, () => finish(message, 'forbidden'))).toBe(20);
        expect(windows.stats.keys).toBe(0);
        await finish(message, 'other');
        expect(await count(9, () => finish(message, 'success'))).toBe(4);
      },
    );

    test('returns the cost of a refused request, and never more than it took', async () => {
      const { admit, finish, windows } = open([{ ...shared, costs: { state: 2 } }]);
      await finish(message, 'success');
      const parallel = await Promise.all([1, 2].map(() => admit({ event: 'state', ...facts })));
      expect(await admit(message)).toMatchObject({ granted: false });
      await Promise.all(parallel.map((one) => one.granted && one.settle('forbidden')));
      expect(windows.peek(windows.rate('shared')!, key)).toMatchObject({ counted: 1, inFlight: 0 });
    });

    test('takes nothing from a window that opened after the request', async () => {
      const { admit, finish, windows, clock } = open([shared]);
      const slow = await admit(message);
      clock.advance(60 * MINUTE_MS);
      await finish(message, 'success');
      if (slow.granted) await slow.settle('unauthenticated');
      expect(windows.peek(windows.rate('shared')!, key)).toMatchObject({ counted: 1, inFlight: 0 });
    });

    test('asks to retry soon while only requests in progress leave no room', async () => {
      const { admit, finish, passes } = open([shared]);
      const strangers = await Promise.all(Array.from({ length: 5 }, () => admit(message)));
      expect(await admit(message)).toMatchObject({ granted: false, retryAfterMs: 1000 });
      await Promise.all(strangers.map((one) => one.granted && one.settle('unauthenticated')));
      for (let n = 0; n < 5; n++) expect(await finish(message, 'success')).toBe(true);
      expect(await passes(message)).toBe(false);
      expect(await admit(message)).toMatchObject({ retryAfterMs: 60 * MINUTE_MS });
    });
  });

  test('counts a request that an origin has signed and has no right to', async () => {
    const origins = ruleOf({ name: 'origins', on: ['federation'], by: 'origin', limit: 3, windowMs: MINUTE_MS });
    const { finish, count } = open([origins]);
    const request = (outcome: RequestOutcome) => finish({ event: 'federation', origin: 'peer.example' }, outcome);
    expect(await count(20, () => request('unauthenticated'))).toBe(20);
    expect(await count(5, () => request('forbidden'))).toBe(3);
  });

  test('reserves requests in progress, and lets no more than the limit pass at the same time', async () => {
    const [account, source] = CONTRACT_RULES;
    const { admit } = open([account!, { ...source!, successClears: false }]);
    const answers = await Promise.all(Array.from({ length: 100 }, () => admit({ event: 'login', account: 'user:a' })));
    expect(answers.filter(({ granted }) => granted)).toHaveLength(5);
  });

  describe('with exemptions', () => {
    const exempt = { users: ['@admin:x'], appservices: ['irc'], networks: ['198.51.100.0/24', '2001:db8::7'] };
    const cases = [
      [{ user: '@admin:x' }, true],
      [{ user: '@admin:y' }, false],
      [{ user: '@ghost:x', appservice: 'irc' }, true],
      [{ user: '@ghost:x', appservice: 'sms' }, false],
      [{ user: '@a:x', address: '198.51.100.200' }, true],
      [{ user: '@a:x', address: '::ffff:198.51.100.200' }, true],
      [{ user: '@a:x', address: '198.51.101.1' }, false],
      [{ user: '@a:x', address: '2001:db8::7' }, true],
      [{ user: '@a:x', address: '2001:db8::8' }, false],
      [{ user: '@a:x', address: 'unknown' }, false],
    ] as const;

    test.each(cases)('of every rule: %j', async (facts, isExempt) => {
      const { passes, count } = open([messages], exempt);
      expect(await count(9, () => passes({ event: 'message', ...facts }))).toBe(isExempt ? 9 : 3);
    });

    test.each(cases)('of one rule: %j', async (facts, isExempt) => {
      const other = ruleOf({ name: 'other', on: ['message'], by: 'server', limit: 5, windowMs: MINUTE_MS });
      const { passes, count } = open([{ ...messages, exempt }, other]);
      expect(await count(9, () => passes({ event: 'message', ...facts }))).toBe(isExempt ? 5 : 3);
    });
  });

  describe('in shadow mode', () => {
    test('refuses nothing, reports what it would refuse, and leaves the other rules as they are', async () => {
      const strict = { ...messages, shadow: true };
      const loose = ruleOf({ name: 'loose', on: ['message'], by: 'user', limit: 6, windowMs: MINUTE_MS });
      const { passes, count, log } = open([strict, loose]);
      expect(await count(9, () => passes({ event: 'message', user: '@a:x' }))).toBe(6);
      expect(log.filter((line) => line === 'messages shadow_refused')).toHaveLength(3);
      expect(log.filter((line) => line === 'messages granted')).toHaveLength(3);
      expect(log.filter((line) => line === 'loose refused')).toHaveLength(3);
    });

    test('reports a rule that counts failures as it would refuse', async () => {
      const { finish, count, log } = open([{ ...CONTRACT_RULES[0]!, shadow: true }]);
      expect(await count(9, () => finish({ event: 'login', account: 'user:a' }, 'forbidden'))).toBe(9);
      expect(log.filter((line) => line === 'login_account shadow_refused')).toHaveLength(4);
    });

    test('reports the blocks that it would start', async () => {
      const block = {
        after: 2,
        withinMs: MINUTE_MS,
        forMs: 10 * MINUTE_MS,
        maxMs: 10 * MINUTE_MS,
        forgetMs: MINUTE_MS,
      };
      const { passes, count, refusals } = open([{ ...messages, shadow: true, block }]);
      expect(await count(9, () => passes({ event: 'message', user: '@a:x' }))).toBe(9);
      expect(refusals.map(({ reason }) => reason)).toEqual(['limit', 'block', 'block', 'block', 'block', 'block']);
    });
  });

  describe('with blocks for repeaters', () => {
    const block = {
      after: 3,
      withinMs: 10 * MINUTE_MS,
      forMs: 5 * MINUTE_MS,
      maxMs: 15 * MINUTE_MS,
      forgetMs: 60 * MINUTE_MS,
    };

    test('blocks a key that was refused too often, each time for longer, up to the maximum', async () => {
      const { admit, clock } = open([{ ...messages, block }]);
      const send = () => admit({ event: 'message', user: '@a:x' });
      for (const minutes of [5, 10, 15, 15]) {
        for (let n = 0; n < 3; n++) expect((await send()).granted).toBe(true);
        for (let n = 0; n < 2; n++) expect(await send()).toMatchObject({ reason: 'limit', retryAfterMs: MINUTE_MS });
        expect(await send()).toMatchObject({ reason: 'block', retryAfterMs: minutes * MINUTE_MS });
        clock.advance(minutes * MINUTE_MS - 1);
        expect(await send()).toMatchObject({ reason: 'block', retryAfterMs: 1 });
        clock.advance(1);
      }
      clock.advance(60 * MINUTE_MS);
      for (let n = 0; n < 5; n++) await send();
      expect(await send()).toMatchObject({ reason: 'block', retryAfterMs: 5 * MINUTE_MS });
    });

    test('does not block a key that waits after a refusal, or another key', async () => {
      const { passes, clock, count } = open([{ ...messages, block }]);
      const send = (user: string) => () => passes({ event: 'message', user });
      for (let minute = 0; minute < 30; minute++) {
        expect(await count(4, send('@a:x'))).toBe(3);
        clock.advance(6 * MINUTE_MS);
      }
      await count(9, send('@b:x'));
      expect(await count(1, send('@c:x'))).toBe(1);
    });

    test('blocks at the first refusal', async () => {
      const { admit, count, passes } = open([{ ...messages, block: { ...block, after: 1 } }]);
      expect(await count(3, () => passes({ event: 'message', user: '@a:x' }))).toBe(3);
      expect(await admit({ event: 'message', user: '@a:x' })).toMatchObject({
        reason: 'block',
        retryAfterMs: 5 * MINUTE_MS,
      });
    });
  });

  test('keeps the windows of the rules that stay when it is configured again', async () => {
    const { passes, count, engine } = open([messages]);
    await count(2, () => passes({ event: 'message', user: '@a:x' }));
    engine.configure({ rules: [{ ...messages, limit: 4 }], exempt: NO_ONE });
    expect(await count(9, () => passes({ event: 'message', user: '@a:x' }))).toBe(2);
    engine.configure({ rules: [], exempt: NO_ONE });
    expect(await count(9, () => passes({ event: 'message', user: '@a:x' }))).toBe(9);
  });
});

describe('RuleEngine over windows on a server that fails', () => {
  test.each(['countAll', 'reserve'] as const)('releases what it has reserved when %s fails', async (failing) => {
    const windows = new MemoryRateLimiter({ clock: new ManualClock() });
    const server = new AsyncLimiter(windows);
    const [account, source] = CONTRACT_RULES;
    const shadow = ruleOf({ ...messages, name: 'last', on: ['login'], by: 'source' });
    const engine = new RuleEngine(
      server,
      { onGranted: () => undefined, onRefused: () => undefined },
      {
        rules: failing === 'countAll' ? [account!, shadow] : [account!, { ...source!, successClears: false }],
        exempt: NO_ONE,
      },
    );
    const reserve = server.reserve;
    server.reserve = async (keys) => {
      const answer = await reserve(keys);
      server.failing = failing;
      return answer;
    };
    await expect(engine.admit([{ event: 'login', account: 'user:a', ...HERE }])).rejects.toThrow('the server refused');
    expect(windows.peek(windows.rate('login_account')!, 'user:a')).toMatchObject({ counted: 0, inFlight: 0 });
  });
});
