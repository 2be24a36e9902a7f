import { createHash } from 'node:crypto';
import { MemoryRateLimiter, type RateKey, type RateRefusal, type Reservation } from '@headgate/limits-core';
import { RedisConnection } from './redis-connection.js';
import { RedisRateLimiter } from './redis-rate-limiter.js';
import { HOLD_MS, SETTLE } from './scripts.js';
import { waitUntilReachable } from './testing/wait-until-reachable.js';
import { describeOnServers, TestServer } from './testing/test-server.js';

/** Longer than a test takes on a busy machine. */
const MAX_TEST_MS = 10_000;

describeOnServers('RedisRateLimiter on a real server', (program) => {
  let server: TestServer;
  let nodes: RedisRateLimiter[];
  let raw: RedisConnection;
  const local = new MemoryRateLimiter();
  const account = local.define('login.account', { limit: 5, windowMs: 60_000 });
  const source = local.define('login.source', { limit: 30, windowMs: 60_000 });
  let alice: RateKey[];
  let run = 0;

  beforeAll(async () => {
    server = await TestServer.start(program);
    nodes = [1, 2].map(() => RedisRateLimiter.open({ url: server.url, timeoutMs: 5000 }));
    raw = new RedisConnection({ url: server.url, timeoutMs: 5000 });
    await waitUntilReachable(...nodes, { ping: async () => void (await raw.run(['PING'])) });
  });
  beforeEach(() => {
    run++;
    alice = [
      { rate: account, key: `alice-${run}` },
      { rate: source, key: `source-${run}` },
    ];
  });
  afterAll(async () => {
    for (const node of nodes) await node.close();
    raw.close();
    await server.close();
  });

  /** The name of a window on the server. */
  async function redisKeyOf({ key }: RateKey): Promise<string> {
    const digest = createHash('sha256').update(key).digest('base64url').slice(0, 22);
    return ((await raw.run(['KEYS', `*${digest}`])) as string[])[0]!;
  }

  /** Makes reservations as old as the given number of periods. */
  async function age(keys: readonly RateKey[], periods: number): Promise<void> {
    for (const key of keys) await raw.run(['HINCRBY', await redisKeyOf(key), 'turn', String(-periods)]);
  }

  /** Reservations belong to periods of the server's clock: waits until the current one does not end during a test. */
  async function untilPeriodLasts(): Promise<void> {
    for (;;) {
      const [seconds] = (await raw.run(['TIME'])) as string[];
      if (HOLD_MS - ((Number(seconds) * 1000) % HOLD_MS) > MAX_TEST_MS) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  test('counts costs under all keys or none, and opens a window of its own length', async () => {
    const [first, second] = alice;
    const upload = (cost: number) => nodes[0]!.countAll([{ ...first!, cost }, second!]);
    expect(await upload(3)).toBeUndefined();
    expect(await upload(3)).toMatchObject({ rate: 'login.account', limit: 5 });
    expect(await nodes[1]!.peek(source, second!.key)).toMatchObject({ counted: 1 });
    expect(await upload(2)).toBeUndefined();
    await nodes[0]!.reset(account, first!.key);
    expect(await upload(1_000_000)).toBeUndefined();
    expect(await nodes[1]!.peek(account, first!.key)).toMatchObject({ counted: 5 });
    await nodes[0]!.countAll([{ rate: account, key: `block-${run}`, windowMs: 500_000 }]);
    expect((await nodes[1]!.peek(account, `block-${run}`)).closesInMs).toBeGreaterThan(400_000);
    await expect(upload(0)).rejects.toThrow(RangeError);
  });

  test('limits a bucket as the limiter in memory does, whatever the costs', async () => {
    const year = 365 * 86_400_000;
    const bucket = local.define('bucket', { limit: 40, windowMs: year, algorithm: 'gcra' });
    let seed = 7 * run;
    const random = () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
    for (let step = 0; step < 200; step++) {
      const key = `bucket-${run}-${step % 3}`;
      const cost = 1 + Math.floor(random() * 6);
      const [shared, own] = [
        await nodes[step % 2]!.countAll([{ rate: bucket, key, cost }]),
        local.countAll([{ rate: bucket, key, cost }]),
      ];
      expect(shared === undefined).toBe(own === undefined);
      if (shared && own) expect(Math.abs(shared.retryAfterMs - own.retryAfterMs)).toBeLessThan(60_000);
    }
  });

  test('keeps reserved events in the bucket until they are released or reset', async () => {
    const bucket = local.define('bucket', { limit: 40, windowMs: 365 * 86_400_000, algorithm: 'gcra' });
    const keys = [{ rate: bucket, key: `reserved-${run}`, limit: 4 }];
    const answers = await Promise.all(Array.from({ length: 9 }, (_, n) => nodes[n % 2]!.reserve(keys)));
    const reservations = answers.filter((answer) => answer.granted);
    expect(reservations).toHaveLength(4);
    const [first, second, third] = reservations;
    await first!.release();
    await second!.commit();
    const held = async () => (await nodes[0]!.reserve(keys)).granted;
    expect(await held()).toBe(true);
    expect(await held()).toBe(false);
    await third!.reset();
    expect([await held(), await held(), await held()]).toEqual([true, true, false]);
  });

  test.each(['fixed-window', 'gcra'] as const)(
    'reserves costs, and returns exactly what a released event has taken (%s)',
    async (algorithm) => {
      const rate = local.define(`volume-${algorithm}`, { limit: 10, windowMs: 365 * 86_400_000, algorithm });
      const key = `costs-${run}`;
      const reserve = async (cost: number) => nodes[0]!.reserve([{ rate, key, cost }]);
      const [kept, returned] = [expectGranted(await reserve(4)), expectGranted(await reserve(6))];
      expect((await reserve(1)).granted).toBe(false);
      await Promise.all([returned.release(), returned.release(), kept.commit()]);
      expect(await nodes[1]!.peek(rate, key)).toMatchObject({ counted: 4, inFlight: 0 });
      const [first, second] = [expectGranted(await reserve(1)), expectGranted(await reserve(5))];
      await Promise.all([second.release(), first.release()]);
      expect(await nodes[1]!.peek(rate, key)).toMatchObject({ counted: 4, inFlight: 0 });
      await nodes[0]!.reset(rate, key);
      await expectGranted(await reserve(1_000_000)).release();
      expect(await nodes[1]!.peek(rate, key)).toMatchObject({ counted: 0, inFlight: 0, closesInMs: 0 });
      await expect(reserve(0)).rejects.toThrow(RangeError);
    },
  );

  test('counts up to the limit across all nodes, and reports when the window closes', async () => {
    const answers = [];
    for (let event = 0; event < 8; event++) answers.push(await nodes[event % 2]!.count(account, alice[0]!.key));
    expect(answers.filter((answer) => answer === undefined)).toHaveLength(5);
    const refusal = answers.at(-1)!;
    expect(refusal).toMatchObject({ granted: false, rate: 'login.account', limit: 5 });
    expect(refusal.retryAfterMs).toBeGreaterThan(50_000);
    expect(refusal.retryAfterMs).toBeLessThanOrEqual(60_000);
  });

  test('grants exactly five of a hundred parallel attempts on two nodes', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => nodes[n % 2]!.reserve(alice)));
    const reservations = answers.filter((answer) => answer.granted);
    expect(reservations).toHaveLength(5);
    await Promise.all(reservations.map((reservation) => reservation.commit()));
    expect(await nodes[0]!.peek(source, alice[1]!.key)).toMatchObject({ counted: 5, inFlight: 0 });
    expect((await nodes[1]!.reserve(alice)).granted).toBe(false);
  });

  test('reserves all keys or none', async () => {
    for (let event = 0; event < 30; event++) await nodes[0]!.count(source, alice[1]!.key);
    expect(await nodes[0]!.reserve(alice)).toMatchObject({ rate: 'login.source' });
    expect(await nodes[0]!.peek(account, alice[0]!.key)).toMatchObject({ counted: 0, inFlight: 0, closesInMs: 0 });
  });

  test('clears the history of both keys on reset, and keeps no window for a released reservation', async () => {
    for (let failure = 0; failure < 3; failure++) await expectGranted(await nodes[0]!.reserve(alice)).commit();
    const other = expectGranted(await nodes[1]!.reserve(alice));
    await expectGranted(await nodes[0]!.reserve(alice)).reset();
    expect(await nodes[0]!.peek(account, alice[0]!.key)).toMatchObject({ counted: 0, inFlight: 1 });
    await other.release();
    await other.commit();
    expect(await nodes[0]!.peek(account, alice[0]!.key)).toMatchObject({ counted: 0, inFlight: 0, closesInMs: 0 });
  });

  test('does not count a reservation in the window after a reset', async () => {
    const old = expectGranted(await nodes[0]!.reserve(alice));
    expect(await nodes[0]!.reset(account, alice[0]!.key)).toBe(true);
    await nodes[0]!.count(account, alice[0]!.key);
    await old.commit();
    expect(await nodes[0]!.peek(account, alice[0]!.key)).toMatchObject({ counted: 1, inFlight: 0 });
  });

  test('frees the reservations of a dead node, and counts those that a slow node commits late', async () => {
    await untilPeriodLasts();
    const [lost, slow] = [expectGranted(await nodes[0]!.reserve(alice)), expectGranted(await nodes[1]!.reserve(alice))];
    await age(alice, 1);
    await expectGranted(await nodes[0]!.reserve(alice)).reset();
    expect(await nodes[0]!.peek(account, alice[0]!.key)).toMatchObject({ inFlight: 2 });
    await age(alice, 1);
    expect(await nodes[0]!.peek(account, alice[0]!.key)).toMatchObject({ inFlight: 0 });
    await slow.commit();
    expect(await nodes[0]!.peek(account, alice[0]!.key)).toMatchObject({ counted: 1, inFlight: 0 });
    await lost.release();
    expect(await nodes[0]!.peek(account, alice[0]!.key)).toMatchObject({ counted: 1, inFlight: 0 });
  });

  test('settles a reservation of the previous period, but not of an older one', async () => {
    await untilPeriodLasts();
    await nodes[0]!.reserve([alice[0]!]);
    await age([alice[0]!], 1);
    await nodes[0]!.reserve([alice[0]!]);
    const name = await redisKeyOf(alice[0]!);
    const opening = (await raw.run(['HGET', name, 'opening'])) as string;
    const [seconds] = (await raw.run(['TIME'])) as string[];
    const releaseReservedAgo = (periods: number) =>
      raw.script(
        SETTLE,
        [name],
        ['release', String(Number(seconds) * 1000 - periods * HOLD_MS), '5', '60000', '1', 'fixed-window', opening],
      );
    await releaseReservedAgo(2);
    expect(await nodes[0]!.peek(account, alice[0]!.key)).toMatchObject({ inFlight: 2 });
    await releaseReservedAgo(1);
    expect(await nodes[0]!.peek(account, alice[0]!.key)).toMatchObject({ inFlight: 1 });
    await releaseReservedAgo(0);
    expect(await nodes[0]!.peek(account, alice[0]!.key)).toMatchObject({ inFlight: 0, closesInMs: 0 });
  });

  test('starts a window at the first event that counts, and keeps it open while events are only in flight', async () => {
    const [rateKey] = alice as [RateKey];
    const closesInMs = async () => (await nodes[0]!.peek(account, rateKey.key)).closesInMs;
    const advanceToHalf = async () => void (await raw.run(['PEXPIRE', await redisKeyOf(rateKey), '30000']));
    const first = expectGranted(await nodes[0]!.reserve([rateKey]));
    await advanceToHalf();
    await expectGranted(await nodes[1]!.reserve([rateKey])).release();
    expect(await closesInMs()).toBeGreaterThan(50_000);
    await advanceToHalf();
    await first.commit();
    expect(await closesInMs()).toBeGreaterThan(50_000);
    await advanceToHalf();
    await nodes[1]!.count(account, rateKey.key);
    await expectGranted(await nodes[1]!.reserve([rateKey])).commit();
    expect(await closesInMs()).toBeLessThanOrEqual(30_000);
  });

  test('uses under 200 bytes for any key, and does not contain its text', async () => {
    const long = 'nora'.repeat(10_000);
    for (const key of ['nora', long]) await expectGranted(await nodes[0]!.reserve([{ rate: account, key }])).commit();
    const names = (await raw.run(['KEYS', '*login.account*'])) as string[];
    const sizes = [];
    for (const name of names) sizes.push(await raw.run(['MEMORY', 'USAGE', name, 'SAMPLES', '0']));
    expect(names.join()).not.toContain('nora');
    expect(Math.max(...(sizes as number[]))).toBeLessThan(200);
  });

  test('refuses the same key twice', async () => {
    await expect(nodes[0]!.reserve([alice[0]!, alice[0]!])).rejects.toThrow(RangeError);
  });
});

const expectGranted = (answer: Reservation | RateRefusal): Reservation => {
  if (!answer.granted) throw new Error(`refused by ${answer.rate}`);
  return answer;
};
