import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MemoryRateLimiter } from '@headgate/limits-core';
import { RedisRateLimiter } from './redis-rate-limiter.js';
import { describeOnServers, TestServer } from './testing/test-server.js';
import { waitUntilReachable } from './testing/wait-until-reachable.js';

describeOnServers('RedisRateLimiter behind Sentinel', (program) => {
  let primary: TestServer;
  let replica: TestServer;
  let sentinel: TestServer;
  let limiter: RedisRateLimiter;
  const account = new MemoryRateLimiter().define('login.account', { limit: 5, windowMs: 60_000 });

  /** Repeats a command until its answer matches. Sentinel closes the connections of a server whose role it changes. */
  const until = async (server: TestServer, command: string[], expected: RegExp): Promise<void> => {
    for (let attempts = 0; ; attempts++) {
      const answer = await server.run(command).catch(String);
      if (expected.test(String(answer))) return;
      if (attempts === 1000)
        throw new Error(`${command.join(' ')} answers after ${attempts} attempts: ${String(answer)}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };

  beforeAll(async () => {
    primary = await TestServer.start(program, (_folder, port) => [
      ...['--port', String(port), '--repl-diskless-sync-delay', '0'],
    ]);
    replica = await TestServer.start(program, (_folder, port) => [
      ...['--port', String(port), '--replicaof', `127.0.0.1 ${primary.port}`],
    ]);
    await until(replica, ['INFO', 'replication'], /master_link_status:up/);
    sentinel = await TestServer.start(program, (folder, port) => {
      const file = join(folder, 'sentinel.conf');
      const lines = [
        `port ${port}`,
        `sentinel monitor limits 127.0.0.1 ${primary.port} 1`,
        'sentinel down-after-milliseconds limits 4000',
        'sentinel failover-timeout limits 2000',
      ];
      writeFileSync(file, `${lines.join('\n')}\n`);
      return [file, '--sentinel'];
    });
    await until(sentinel, ['INFO', 'sentinel'], /slaves=1\b/);
    limiter = RedisRateLimiter.open({ sentinel: { name: 'limits', nodes: [sentinel.url] }, timeoutMs: 5000 });
    await waitUntilReachable(limiter);
  });
  afterAll(async () => {
    await limiter.close();
    for (const server of [sentinel, replica, primary]) await server.close();
  });

  test('counts on the primary, also in parallel', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => limiter.count(account, 'alice')));
    expect(answers.filter((answer) => answer === undefined)).toHaveLength(5);
  });

  test('settles reservations', async () => {
    const reservation = await limiter.reserve([{ rate: account, key: 'bob' }]);
    if (reservation.granted) await reservation.commit();
    expect(await limiter.peek(account, 'bob')).toMatchObject({ counted: 1, inFlight: 0 });
  });

  test('moves to the new primary after a failover, which has the replicated windows', async () => {
    const keys = String(await primary.run(['DBSIZE']));
    await until(replica, ['DBSIZE'], new RegExp(`^${keys}$`));
    await primary.stop();
    await until(replica, ['INFO', 'replication'], /role:master/);
    await waitUntilReachable(limiter);
    // The first answer of the new primary: it has not counted anything itself.
    expect(await limiter.count(account, 'alice')).toMatchObject({ granted: false, rate: 'login.account' });
  });
});
