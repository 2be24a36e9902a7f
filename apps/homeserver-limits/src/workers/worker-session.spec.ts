import type { RuleFacts } from '@headgate/limit-rules';
import { CapLedger, MemoryRateLimiter } from '@headgate/limits-core';
import { parseConfig } from '../config/config.js';
import { LiveConfig } from '../config/live-config.js';
import { RequestLimit } from '../edge/request-limit.js';
import { ChannelClosed, RemoteError } from '../link/channel.js';
import { Caps } from '../rules/caps.js';
import { Rules } from '../rules/rules.js';
import { WorkerSession } from './worker-session.js';

const LOGIN: RuleFacts = { event: 'login', account: 'user:nora', address: '192.0.2.1', source: '192.0.2.1' };
const SOURCE = { name: 'concurrent_requests', address: '192.0.2.1', source: '192.0.2.1' };
const NO_LISTENER = { onGranted: () => undefined, onRefused: () => undefined };

describe('WorkerSession', () => {
  let windows: MemoryRateLimiter;
  let caps: Caps;
  let limit: RequestLimit;
  let sessions: WorkerSession[];
  /** How the workers count a holder, by the number of the count. */
  let counts: Record<number, () => Promise<number>>;

  beforeEach(() => {
    const config = new LiveConfig(parseConfig('[limits]\npushers_per_user = 3\n'));
    windows = new MemoryRateLimiter();
    const rules = new Rules(windows, config, NO_LISTENER);
    caps = new Caps(new CapLedger(), config, { maxAgeMs: 60_000, maxRefusalAgeMs: 0 });
    limit = new RequestLimit({
      limits: { concurrent_requests: 2, concurrent_polls: undefined },
      isShadow: () => false,
      isExempt: () => false,
      onGranted: () => undefined,
      onRefused: () => undefined,
    });
    counts = {};
    const channel = { call: (_method: string, { count }: { count: number }) => counts[count]!() };
    const deps = {
      rules,
      caps,
      limit,
      refusals: { own: () => undefined },
      watch: () => undefined,
      metrics: () => Promise.resolve(''),
    };
    sessions = [0, 1].map(() => new WorkerSession(deps, () => channel as never));
  });

  const counted = () => windows.peek(windows.rate('login_account')!, 'user:nora');
  const write = (session: number, count = 1) =>
    sessions[session]!.reserveCap({ cap: 'pushers', write: { holder: '@nora:b' }, count });

  test('counts in one window for all workers', async () => {
    for (let i = 0; i < 5; i++) {
      const session = sessions[i % 2]!;
      const { held = 0 } = await session.admit([LOGIN]);
      await session.settle({ held, outcome: 'forbidden' });
    }
    expect((await sessions[0]!.admit([LOGIN])).refusal).toMatchObject({ rule: 'login_account', limit: 5 });
    expect(sessions.map(({ heldCount }) => heldCount)).toEqual([0, 0]);
  });

  test('counts the requests in progress of a worker that is gone, and those of no other', async () => {
    await sessions[0]!.admit([LOGIN]);
    await sessions[0]!.admit([LOGIN]);
    const { held = 0 } = await sessions[1]!.admit([LOGIN]);
    await sessions[0]!.end();
    expect(counted()).toMatchObject({ counted: 2, inFlight: 1 });
    await sessions[1]!.settle({ held, outcome: 'success' });
    expect(counted()).toMatchObject({ counted: 0, inFlight: 0 });
  });

  test('settles a request once, and ignores numbers that it does not know', async () => {
    const { held = 0 } = await sessions[0]!.admit([LOGIN]);
    await sessions[0]!.settle({ held, outcome: 'forbidden' });
    await sessions[0]!.settle({ held, outcome: 'forbidden' });
    await sessions[0]!.settle({ held: 999, outcome: 'forbidden' });
    await sessions[0]!.end();
    expect(counted()).toMatchObject({ counted: 1, inFlight: 0 });
  });

  test('holds nothing for a request that no rule counts', async () => {
    expect(await sessions[0]!.admit([{ ...LOGIN, event: 'message' }])).toEqual({});
  });

  test('reserves under a cap together, and asks the worker of the first write for the count', async () => {
    counts = { 1: () => Promise.resolve(1) };
    const results = await Promise.all([write(0), write(1), write(0), write(1)]);
    expect(results.filter(({ held }) => held !== undefined)).toHaveLength(2);
    expect(results.filter((result) => result.limit === 3)).toHaveLength(2);
  });

  test('counts again after a worker is gone: its writes may have been carried out', async () => {
    let held = 0;
    counts = { 1: () => Promise.resolve(held) };
    await write(0);
    await write(0);
    held = 2;
    await sessions[0]!.end();
    expect((await write(1)).held).toBeDefined();
    expect((await write(1)).limit).toBe(3);
  });

  test('lets another worker count when the first one fails to, and fails only what that one asked', async () => {
    const { promise, reject } = Promise.withResolvers<number>();
    counts = { 1: () => promise, 2: () => Promise.resolve(0) };
    const first = write(0, 1);
    const second = write(1, 2);
    reject(new ChannelClosed());
    await expect(first).rejects.toThrow(ChannelClosed);
    expect((await second).held).toBeDefined();
    counts = { 3: () => Promise.reject(new RemoteError('502')) };
    caps.ledger.expire(caps.pushers, '@nora:b');
    await expect(write(0, 3)).rejects.toThrow('502');
  });

  test('gives back the places of requests in progress, one by one and with their worker', async () => {
    const { held = 0 } = await sessions[0]!.enter(SOURCE);
    await sessions[0]!.enter(SOURCE);
    expect((await sessions[1]!.enter(SOURCE)).retryAfterMs).toBe(1_000);
    sessions[0]!.leave({ held });
    sessions[0]!.leave({ held });
    expect((await sessions[1]!.enter(SOURCE)).held).toBeDefined();
    await sessions[0]!.end();
    expect((await sessions[1]!.enter(SOURCE)).held).toBeDefined();
    expect((await sessions[1]!.enter(SOURCE)).retryAfterMs).toBe(1_000);
  });

  test('keeps nothing that is decided after the worker is gone', async () => {
    await sessions[0]!.end();
    await sessions[0]!.enter(SOURCE);
    await sessions[0]!.admit([LOGIN]);
    expect([sessions[0]!.heldCount, limit.sources, counted().inFlight]).toEqual([0, 0, 0]);
  });
});
