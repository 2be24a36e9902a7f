import { ManualClock, RateWindows } from '@headgate/limits-core';
import { LaterWindows } from '../testing/later-windows.js';
import { RateDecisions } from './rate-decisions.js';

function open(where: string, shadow: readonly string[] = []) {
  const windows = new RateWindows({ clock: new ManualClock() });
  const store = where === 'here' ? windows : new LaterWindows(windows);
  const told: string[] = [];
  const decisions = new RateDecisions(
    store,
    (rate) => shadow.includes(rate),
    (rule, outcome) => told.push(`${rule} ${outcome}`),
  );
  const account = { rate: store.define('account', { limit: 1, windowMs: 60_000 }), key: 'alice' };
  const source = { rate: store.define('source', { limit: 2, windowMs: 90_000 }), key: '192.0.2.1' };
  const counted = () => [account, source].map(({ rate, key }) => windows.peek(rate, key).counted);
  const inFlight = () => [account, source].map(({ rate, key }) => windows.peek(rate, key).inFlight);
  const taken = (...claims: (typeof account)[]) => Promise.resolve().then(() => decisions.reserve(claims));
  const count = ({ rate, key }: typeof account) => Promise.resolve().then(() => decisions.count(rate, key));
  return { decisions, told, account, source, counted, inFlight, taken, count };
}

describe.each(['here', 'on a server'])('RateDecisions over windows %s', (where) => {
  test('counts an event, or says when there is room again', async () => {
    const { told, account, count } = open(where);
    await count(account);
    await expect(count(account)).rejects.toMatchObject({ rate: 'account', retryAfterMs: 60_000 });
    expect(told).toEqual(['account granted', 'account refused']);
  });

  test('takes room on all keys or on none, and settles it on all', async () => {
    const { told, account, source, counted, inFlight, taken } = open(where);
    await (await taken(account, source)).keep();
    expect(counted()).toEqual([1, 1]);
    await expect(taken(account, source)).rejects.toMatchObject({ rate: 'account' });
    expect(inFlight()).toEqual([0, 0]);
    expect(told).toEqual(['account granted', 'source granted', 'account refused']);
  });

  test('counts a rate in shadow apart: it refuses nobody and takes nothing from the others', async () => {
    const { told, account, source, counted, count, taken } = open(where, ['account']);
    for (let i = 0; i < 2; i++) await (await taken(account, source)).keep();
    await count(account);
    expect(counted()).toEqual([1, 2]);
    await expect(taken(account, source)).rejects.toMatchObject({ rate: 'source' });
    expect(told.filter((line) => line.startsWith('account'))).toEqual([
      'account granted',
      'account shadow_refused',
      'account shadow_refused',
    ]);
  });

  test('asks no store when every rate is in shadow and full', async () => {
    const { account, taken, inFlight } = open(where, ['account']);
    const first = await taken(account);
    const second = await taken(account);
    await second.keep();
    expect(inFlight()).toEqual([1, 0]);
    await first.release();
    expect(inFlight()).toEqual([0, 0]);
  });

  test('takes groups that are settled apart together, or none of them', async () => {
    const { decisions, account, source, counted, inFlight, told } = open(where);
    const [first, second] = await decisions.reserveGroups([[account], [source]]);
    await first!.keep();
    await second!.release();
    expect(counted()).toEqual([1, 0]);
    await expect(decisions.reserveGroups([[source], [account]])).rejects.toMatchObject({ rate: 'account' });
    expect(inFlight()).toEqual([0, 0]);
    expect(told).toEqual(['account granted', 'source granted', 'account refused']);
  });

  test('names, of several groups that refuse, the one that reopens last', async () => {
    const { decisions, account, source, count } = open(where);
    await count(account);
    for (let i = 0; i < 2; i++) await count(source);
    await expect(decisions.reserveGroups([[account], [source]])).rejects.toMatchObject({
      rate: 'source',
      retryAfterMs: 90_000,
    });
  });
});

test('RateDecisions over windows in this process answers at once', () => {
  const { decisions, account, source } = open('here');
  expect(decisions.count(account.rate, account.key)).toBeUndefined();
  expect(decisions.reserve([source])).not.toBeInstanceOf(Promise);
});
