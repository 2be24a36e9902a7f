import { RuleEngine, type RuleFacts, ruleOf } from '@headgate/limit-rules';
import { ManualClock, MemoryRateLimiter } from '@headgate/limits-core';
import { parseConfig } from '../config/config.js';
import { LiveConfig } from '../config/live-config.js';
import { RecentRequests } from '../reports/recent-requests.js';
import { RefusalLog } from '../reports/refusal-log.js';
import { Rules } from '../rules/rules.js';
import { Overrides } from '../state/overrides.js';
import { Explanations } from './explanations.js';

const TOML = `
[server]
name = "b.example"
[rates.login_account]
block = { after = 2, for = "1h", max = "1d" }
[[rules]]
name = "room_messages"
on = ["message"]
by = "room"
limit = 2
window = "1m"
`;
const STRANGER = {
  address: '203.0.113.7',
  source: '203.0.113.7',
  target: '/_matrix/client/v3/login?access_token=secret',
};

describe('Explanations', () => {
  let explanations: Explanations;
  let rules: Rules;
  let clock: ManualClock;
  beforeEach(() => {
    clock = new ManualClock();
    const windows = new MemoryRateLimiter({ clock });
    const config = new LiveConfig(parseConfig(TOML));
    const refusals = new RefusalLog({ info: () => undefined }, () => false);
    const recent = new RecentRequests();
    const listener = {
      onGranted: () => undefined,
      onRefused: (...[refusal, facts, isShadow]: Parameters<RefusalLog['rate']>) =>
        refusals.rate(refusal, facts, isShadow),
    };
    rules = new Rules(windows, config, listener, { observer: recent });
    explanations = new Explanations(windows, windows, config, new Overrides(), recent, refusals);
  });
  /** @returns the rule that refused it */
  const send = async (
    part: Omit<RuleFacts, 'address' | 'source'>,
    outcome: 'forbidden' | 'success',
    from = STRANGER,
  ) => {
    try {
      const admission = await rules.admit(from, [part]);
      await admission.settle(outcome);
      return undefined;
    } catch (error) {
      return (error as { rate: string }).rate;
    }
  };
  const guess = () => send({ event: 'login', account: 'user:alice' }, 'forbidden');
  const ruleNamed = async (subject: string, name: string) =>
    (await explanations.of(subject)).rules.find(({ rule }) => rule === name);

  test.each([['@alice:b.example'], ['Alice'], ['user:alice'], ['203.0.113.7']])(
    'explains the refusals of %s by the rule, the requests that counted, and the end',
    async (subject) => {
      for (let i = 0; i < 5; i++) await guess();
      clock.advance(20_000);
      expect(await guess()).toBe('login_account');
      const { rules: found, refusals } = await explanations.of(subject);
      const full = found.find(({ isFull }) => isFull);
      expect(full).toMatchObject({ rule: 'login_account', key: 'user:alice', counted: 5, limit: 5, blockedForMs: 0 });
      expect(full?.closesInMs).toBe(40_000);
      expect(full?.requests.map(({ counted, refusedBy }) => [counted, refusedBy])).toEqual([
        [false, 'login_account'],
        ...Array<unknown>(5).fill([true, undefined]),
      ]);
      // Without the query, which had a token.
      expect(full?.requests[0]).toMatchObject({ address: '203.0.113.7', path: '/_matrix/client/v3/login' });
      expect(refusals).toHaveLength(1);
    },
  );

  test('reports a block with its end', async () => {
    for (let i = 0; i < 8; i++) await guess();
    expect((await ruleNamed('alice', 'login_account'))?.blockedForMs).toBe(3_600_000);
    clock.advance(120_000);
    expect(await ruleNamed('alice', 'login_account')).toMatchObject({
      counted: 0,
      blockedForMs: 3_480_000,
      isFull: true,
    });
  });

  test('includes the keys of rooms that the user has used, and of no other user', async () => {
    const message = { event: 'message', user: '@bob:b.example', room: '!r:b.example' } as const;
    await send(message, 'success');
    await send({ ...message, user: '@eve:b.example', room: '!other:b.example' }, 'success');
    expect((await explanations.of('@bob:b.example')).rules.map(({ rule, key }) => [rule, key])).toEqual([
      ['room_messages', '!r:b.example'],
    ]);
  });

  test('lists nothing for a user who has used nothing', async () => {
    await guess();
    expect(await explanations.of('@carol:b.example')).toEqual({ rules: [], refusals: [] });
  });

  test('does not count a success of a rule of failures', async () => {
    await guess();
    await send({ event: 'login', account: 'user:alice', user: undefined }, 'success', {
      ...STRANGER,
      address: '192.0.2.9',
      source: '192.0.2.9',
    });
    const found = await ruleNamed('203.0.113.7', 'login_source');
    expect(found?.requests.map(({ counted }) => counted)).toEqual([true]);
  });

  test('an observer receives no requests that no rule counts', () => {
    const engine = new RuleEngine(
      new MemoryRateLimiter({ clock }),
      { onGranted: () => undefined, onRefused: () => undefined },
      {
        rules: [ruleOf({ name: 'one', on: ['ring'], by: 'user', limit: 1, windowMs: 1_000 })],
        exempt: { users: [], appservices: [], networks: [] },
      },
    );
    expect([engine.counts('upload'), rules.count('upload'), rules.isRecording]).toEqual([false, false, false]);
  });
});
