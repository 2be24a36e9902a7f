import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FallbackRateLimiter, MemoryRateLimiter, type RateRefusal, type Reservation } from '@headgate/limits-core';
import { RedisRateLimiter } from './redis-rate-limiter.js';
import { ServerUnavailable } from './server-errors.js';
import { TestCluster } from './testing/test-cluster.js';
import { describeOnServers } from './testing/test-server.js';
import { waitUntilReachable } from './testing/wait-until-reachable.js';

describeOnServers('RedisRateLimiter on a cluster of three nodes', (program) => {
  let cluster: TestCluster;
  let nodes: RedisRateLimiter[] = [];
  const rates = new MemoryRateLimiter();
  const account = rates.define('login.account', { limit: 5, windowMs: 60_000 });
  const source = rates.define('login.source', { limit: 30, windowMs: 120_000 });
  const keysOf = (run: string) => [
    { rate: account, key: `alice-${run}` },
    { rate: source, key: `source-${run}` },
  ];

  beforeAll(async () => {
    cluster = await TestCluster.start(program);
    // Each node of the application knows another node of the cluster.
    nodes = [0, 1].map((node) => RedisRateLimiter.open({ cluster: { nodes: [cluster.urls[node]!] }, timeoutMs: 5000 }));
    await waitUntilReachable(...nodes);
  });
  afterAll(async () => {
    for (const node of nodes) await node.close();
    await cluster.close();
  });

  test('spreads keys over all nodes', async () => {
    for (let user = 0; user < 60; user++) expect(await nodes[user % 2]!.count(account, `user-${user}`)).toBeUndefined();
    for (let node = 0; node < 3; node++) expect(await cluster.run(node, ['DBSIZE'])).toBeGreaterThan(5);
  });

  test('counts together up to the limit, whichever node has the key', async () => {
    for (const key of ['a', 'b', 'c', 'd']) {
      const answers = [];
      for (let event = 0; event < 8; event++) answers.push(await nodes[event % 2]!.count(account, key));
      expect(answers.filter((answer) => answer === undefined)).toHaveLength(5);
      expect(await nodes[0]!.reset(account, key)).toBe(true);
      expect(await nodes[1]!.peek(account, key)).toMatchObject({ counted: 0 });
    }
  });

  test('grants exactly five of a hundred parallel attempts under keys of different nodes', async () => {
    for (const run of ['1', '2', '3']) {
      const keys = keysOf(run);
      const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => nodes[n % 2]!.reserve(keys)));
      const reservations = answers.filter((answer) => answer.granted);
      expect(reservations).toHaveLength(5);
      await Promise.all(reservations.map((reservation) => reservation.commit()));
      expect(await nodes[0]!.peek(source, keys[1]!.key)).toMatchObject({ counted: 5, inFlight: 0 });
      expect((await nodes[1]!.reserve(keys)).granted).toBe(false);
    }
  });

  test('releases the first key if the second one refuses, and reports the longest wait', async () => {
    const keys = keysOf('refused');
    for (let event = 0; event < 30; event++) await nodes[0]!.count(source, keys[1]!.key);
    expect(await nodes[0]!.reserve(keys)).toMatchObject({ granted: false, rate: 'login.source' });
    expect(await nodes[0]!.peek(account, keys[0]!.key)).toMatchObject({ counted: 0, inFlight: 0 });
    for (let event = 0; event < 5; event++) await nodes[0]!.count(account, keys[0]!.key);
    const refusal = await nodes[1]!.reserve(keys);
    expect(refusal).toMatchObject({ granted: false, rate: 'login.source', limit: 30 });
    expect((refusal as RateRefusal).retryAfterMs).toBeGreaterThan(60_000);
  });

  test('settles the keys of a reservation on all nodes', async () => {
    const keys = keysOf('settled');
    const reserve = async () => expectGranted(await nodes[0]!.reserve(keys));
    for (let failure = 0; failure < 3; failure++) await (await reserve()).commit();
    const other = await reserve();
    await (await reserve()).reset();
    for (const { rate, key } of keys)
      expect(await nodes[1]!.peek(rate, key)).toMatchObject({ counted: 0, inFlight: 1 });
    await other.release();
    for (const { rate, key } of keys)
      expect(await nodes[1]!.peek(rate, key)).toMatchObject({ counted: 0, inFlight: 0 });
  });

  test('needs no more rights than the README lists', async () => {
    const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');
    const [, rule] = /^ACL (SETUSER limits .*)$/m.exec(readme)!;
    const [, pattern, commands] = /In a cluster, the user also needs `([^`]+)` and `([^`]+)`/.exec(readme)!;
    const acl = [...rule!.replace('PASSWORD', 'p@ss:word/#').split(' '), pattern!, ...commands!.split(' ')];
    for (let node = 0; node < 3; node++) await cluster.run(node, ['ACL', ...acl]);
    const cautious = { cluster: { nodes: cluster.urls }, username: 'limits', password: 'p@ss:word/#', timeoutMs: 5000 };
    const limiter = RedisRateLimiter.open(cautious);
    await waitUntilReachable(limiter);
    const keys = keysOf('rights');
    await expectGranted(await limiter.reserve(keys)).commit();
    expect(await limiter.count(account, keys[0]!.key)).toBeUndefined();
    expect(await limiter.peek(account, keys[0]!.key)).toMatchObject({ counted: 2 });
    expect(await limiter.reset(account, keys[0]!.key)).toBe(true);
    await limiter.close();
  });

  test('refuses the same key twice', async () => {
    const [rateKey] = keysOf('twice');
    await expect(nodes[0]!.reserve([rateKey!, rateKey!])).rejects.toThrow(RangeError);
  });

  test('falls back for all keys while a node is down, and releases what it reserved on the others', async () => {
    const own = new MemoryRateLimiter();
    const shared = RedisRateLimiter.open({ cluster: { nodes: cluster.urls }, timeoutMs: 500 });
    await waitUntilReachable(shared);
    const limiter = new FallbackRateLimiter(shared, own, { retryAfterMs: 0 });
    const rate = limiter.define('ring', { limit: 10, windowMs: 600_000 });
    await cluster.servers[2]!.stop();
    let granted = 0;
    for (let event = 0; event < 40; event++) if (!(await limiter.count(rate, `user-${event % 4}`))) granted++;
    expect(granted).toBe(40);
    await shared.close();
    await expect(shared.count(account, 'a')).rejects.toThrow(ServerUnavailable);
  });
});

const expectGranted = (answer: Reservation | RateRefusal): Reservation => {
  if (!answer.granted) throw new Error(`refused by ${answer.rate}`);
  return answer;
};
