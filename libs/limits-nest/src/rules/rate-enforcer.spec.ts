import { ManualClock, MemoryRateLimiter } from '@headgate/limits-core';
import { AsyncLimiter } from '../testing/async-limiter.js';
import { RateEnforcer } from './rate-enforcer.js';

function open(where: string, shadow: readonly string[] = []) {
  const memory = new MemoryRateLimiter({ clock: new ManualClock() });
  const limiter = where === 'in this process' ? memory : new AsyncLimiter(memory);
  const decisions: string[] = [];
  const enforcer = new RateEnforcer(
    limiter,
    (rate) => shadow.includes(rate),
    (rule, outcome) => decisions.push(`${rule} ${outcome}`),
  );
  const account = { rate: limiter.define('account', { limit: 1, windowMs: 60_000 }), key: 'alice' };
  const source = { rate: limiter.define('source', { limit: 2, windowMs: 90_000 }), key: '192.0.2.1' };
  const counted = () => [account, source].map(({ rate, key }) => memory.peek(rate, key).counted);
  const inFlight = () => [account, source].map(({ rate, key }) => memory.peek(rate, key).inFlight);
  const reserve = (...keys: (typeof account)[]) => Promise.resolve().then(() => enforcer.reserve(keys));
  const count = ({ rate, key }: typeof account) => Promise.resolve().then(() => enforcer.count(rate, key));
  return { enforcer, decisions, account, source, counted, inFlight, reserve, count };
}

describe.each(['in this process', 'on a server'])('RateEnforcer with a limiter %s', (where) => {
  test('counts an event, or reports when to retry', async () => {
    const { decisions, account, count } = open(where);
    await count(account);
    await expect(count(account)).rejects.toMatchObject({ rate: 'account', retryAfterMs: 60_000 });
    expect(decisions).toEqual(['account granted', 'account refused']);
  });

  test('reserves all keys or none, and settles all of them', async () => {
    const { decisions, account, source, counted, inFlight, reserve } = open(where);
    await (await reserve(account, source)).commit();
    expect(counted()).toEqual([1, 1]);
    await expect(reserve(account, source)).rejects.toMatchObject({ rate: 'account' });
    expect(inFlight()).toEqual([0, 0]);
    expect(decisions).toEqual(['account granted', 'source granted', 'account refused']);
  });

  test('counts a rate in shadow mode separately: it neither refuses nor affects the others', async () => {
    const { decisions, account, source, counted, count, reserve } = open(where, ['account']);
    for (let i = 0; i < 2; i++) await (await reserve(account, source)).commit();
    await count(account);
    expect(counted()).toEqual([1, 2]);
    await expect(reserve(account, source)).rejects.toMatchObject({ rate: 'source' });
    expect(decisions.filter((line) => line.startsWith('account'))).toEqual([
      'account granted',
      'account shadow_refused',
      'account shadow_refused',
    ]);
  });

  test('grants a reservation without keys when every rate is in shadow mode and full', async () => {
    const { account, reserve, inFlight } = open(where, ['account']);
    const first = await reserve(account);
    const second = await reserve(account);
    await second.commit();
    expect(inFlight()).toEqual([1, 0]);
    await first.release();
    expect(inFlight()).toEqual([0, 0]);
  });

  test('reserves all groups or none, and settles them separately', async () => {
    const { enforcer, account, source, counted, inFlight, decisions } = open(where);
    const [first, second] = await enforcer.reserveGroups([[account], [source]]);
    await first!.commit();
    await second!.release();
    expect(counted()).toEqual([1, 0]);
    await expect(enforcer.reserveGroups([[source], [account]])).rejects.toMatchObject({ rate: 'account' });
    expect(inFlight()).toEqual([0, 0]);
    expect(decisions).toEqual(['account granted', 'source granted', 'account refused']);
  });

  test('reports the longest wait of several refusing groups', async () => {
    const { enforcer, account, source, count } = open(where);
    await count(account);
    for (let i = 0; i < 2; i++) await count(source);
    await expect(enforcer.reserveGroups([[account], [source]])).rejects.toMatchObject({
      rate: 'source',
      retryAfterMs: 90_000,
    });
  });
});

test('RateEnforcer with a limiter in this process returns values, not promises', () => {
  const { enforcer, account, source } = open('in this process');
  expect(enforcer.count(account.rate, account.key)).toBeUndefined();
  expect(enforcer.reserve([source])).not.toBeInstanceOf(Promise);
});

test.each<[shadow: string[]]>([[['source']], [[]]])(
  'RateEnforcer releases the first reservation when the server fails at the second (shadow: %j)',
  async (shadow) => {
    const memory = new MemoryRateLimiter({ clock: new ManualClock() });
    const limiter = new AsyncLimiter(memory);
    const account = { rate: limiter.define('account', { limit: 1, windowMs: 60_000 }), key: 'alice' };
    const source = { rate: limiter.define('source', { limit: 2, windowMs: 90_000 }), key: '192.0.2.1' };
    const reserve = limiter.reserve.bind(limiter);
    limiter.reserve = async (keys) => {
      if (keys[0]!.rate === source.rate) throw new Error('the server failed');
      return reserve(keys);
    };
    const enforcer = new RateEnforcer(
      limiter,
      (rate) => shadow.includes(rate),
      () => undefined,
    );
    const attempt =
      shadow.length > 0 ? enforcer.reserve([account, source]) : enforcer.reserveGroups([[account], [source]]);
    await expect(attempt).rejects.toThrow('the server failed');
    expect(memory.peek(account.rate, account.key)).toMatchObject({ counted: 0, inFlight: 0 });
  },
);
