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

  beforeAll(async () => {
    primary = await TestServer.start(program);
    replica = await TestServer.start(program, (_folder, port) => [
      ...['--port', String(port), '--replicaof', `127.0.0.1 ${primary.port}`],
    ]);
    sentinel = await TestServer.start(program, (folder, port) => {
      const file = join(folder, 'sentinel.conf');
      const lines = [
        `port ${port}`,
        `sentinel monitor limits 127.0.0.1 ${primary.port} 1`,
        'sentinel down-after-milliseconds limits 300',
        'sentinel failover-timeout limits 2000',
      ];
      writeFileSync(file, `${lines.join('\n')}\n`);
      return [file, '--sentinel'];
    });
    limiter = RedisRateLimiter.open({ sentinel: { name: 'limits', nodes: [sentinel.url] }, timeoutMs: 1000 });
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
    await primary.stop();
    let refusal;
    for (let attempts = 0; refusal === undefined && attempts < 500; attempts++) {
      refusal = await limiter.count(account, 'alice').catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(refusal).toMatchObject({ granted: false, rate: 'login.account' });
  });
});
