import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FallbackRateLimiter, MemoryRateLimiter } from '@headgate/limits-core';
import { type ConnectionOptions, RedisConnection } from './redis-connection.js';
import { RedisRateLimiter } from './redis-rate-limiter.js';
import { ServerUnavailable, ServerTimeout } from './server-errors.js';
import { waitUntilReachable } from './testing/wait-until-reachable.js';
import { describeOnServers, plain, supportsTls, TestServer } from './testing/test-server.js';

const canCertify = spawnSync('openssl', ['version']).status === 0;

describeOnServers('RedisRateLimiter and its server', (program) => {
  let server: TestServer;
  let limiter: RedisRateLimiter;
  const rate = new MemoryRateLimiter().define('login.account', { limit: 2, windowMs: 60_000 });
  const keys = [
    { rate, key: 'alice' },
    { rate, key: 'bob' },
  ];

  async function open(options: Partial<ConnectionOptions>, start = plain): Promise<void> {
    server = await TestServer.start(program, start);
    limiter = RedisRateLimiter.open({ url: server.url, timeoutMs: 5000, ...options });
  }
  async function administer(...commands: string[][]): Promise<void> {
    const admin = new RedisConnection({ url: server.url, timeoutMs: 5000 });
    await waitUntilReachable({ ping: async () => void (await admin.run(['PING'])) });
    for (const command of commands) await admin.run(command);
    admin.close();
  }

  afterEach(async () => {
    await limiter.close();
    await server.close();
  });

  test('sends its scripts again after the server has lost them', async () => {
    await open({});
    await waitUntilReachable(limiter);
    expect(await limiter.count(rate, 'a')).toBeUndefined();
    await server.stop();
    await server.start();
    await waitUntilReachable(limiter);
    expect(await limiter.count(rate, 'a')).toBeUndefined();
  });

  test('falls back to the local limiter when the server hangs, and sends it nothing stale when it resumes', async () => {
    await open({ timeoutMs: 5_000 });
    await waitUntilReachable(limiter);
    const errors: unknown[] = [];
    const fallback = new FallbackRateLimiter(limiter, new MemoryRateLimiter(), {
      onChange: (error) => errors.push(error),
    });
    const local = fallback.define('login.account', { limit: 2, windowMs: 60_000 });
    expect(await fallback.count(local, 'a')).toBeUndefined();
    server.freeze();
    expect(await fallback.count(local, 'a')).toBeUndefined();
    expect(await fallback.count(local, 'a')).toMatchObject({ granted: false });
    expect(errors).toEqual([expect.any(ServerTimeout)]);
    server.thaw();
    await waitUntilReachable(limiter);
  });

  test('needs no more rights than the README lists', async () => {
    await open({ username: 'limits', password: 'p@ss:word/#' });
    await expect(limiter.ping()).rejects.toThrow(ServerUnavailable);
    const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');
    const [, rule] = /^ACL (SETUSER limits .*)$/m.exec(readme)!;
    await administer(['ACL', ...rule!.replace('PASSWORD', 'p@ss:word/#').split(' ')]);
    await waitUntilReachable(limiter);
    const reservation = await limiter.reserve(keys);
    if (reservation.granted) await reservation.commit();
    expect(await limiter.peek(rate, 'alice')).toMatchObject({ counted: 1 });
    expect(await limiter.count(rate, 'bob')).toBeUndefined();
    expect(await limiter.reset(rate, 'alice')).toBe(true);
  });

  test('reports why authentication failed, without the password', async () => {
    await open({ username: 'limits', password: 'hunter2' });
    const failure = async () => {
      const error: unknown = await limiter.ping().catch((reason: unknown) => reason);
      return error instanceof Error ? error.message : 'none';
    };
    while (!(await failure()).includes('WRONGPASS')) await new Promise((next) => setTimeout(next, 10));
    expect(await failure()).not.toContain('hunter2');
  });

  test('rejects when the server is out of memory', async () => {
    await open({});
    await administer(['CONFIG', 'SET', 'maxmemory', '1']);
    await waitUntilReachable(limiter);
    await expect(limiter.count(rate, 'a')).rejects.toThrow('OOM');
  });

  test('works with the cluster node that holds the slot of the prefix', async () => {
    await open({}, (_folder, port) => ['--port', String(port), '--cluster-enabled', 'yes']);
    await administer(['CLUSTER', 'ADDSLOTSRANGE', '0', '16383']);
    await waitUntilReachable(limiter);
    let reservation = await limiter.reserve(keys).catch(() => undefined);
    while (!reservation) reservation = await limiter.reserve(keys).catch(() => undefined);
    expect(reservation.granted).toBe(true);
  });

  test('rejects with ServerUnavailable if there is no server', async () => {
    await open({ url: 'redis://127.0.0.1:1' });
    await expect(limiter.count(rate, 'a')).rejects.toThrow(ServerUnavailable);
    await limiter.close();
    await expect(limiter.count(rate, 'a')).rejects.toThrow('the connection was closed');
  });

  const withoutTls = canCertify ? (supportsTls(program) ? '' : ' (built without TLS)') : ' (openssl is not installed)';
  (withoutTls === '' ? test : test.skip)(`trusts a TLS server with a private authority${withoutTls}`, async () => {
    const certificate = (folder: string) => join(folder, 'server.crt');
    await open({}, (folder, port) => {
      const key = join(folder, 'server.key');
      const request = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
      const names = ['-subj', '/CN=windows', '-addext', 'subjectAltName=IP:127.0.0.1'];
      const result = spawnSync('openssl', ['req', ...request, ...names, '-keyout', key, '-out', certificate(folder)]);
      if (result.status !== 0) throw new Error(result.stderr.toString());
      const files = ['--tls-cert-file', certificate(folder), '--tls-key-file', key];
      return ['--port', '0', '--tls-port', String(port), ...files, '--tls-auth-clients', 'no'];
    });
    await limiter.close();
    const url = `rediss://127.0.0.1:${server.port}`;
    const untrusting = RedisRateLimiter.open({ url, timeoutMs: 5000 });
    limiter = RedisRateLimiter.open({
      url,
      timeoutMs: 5000,
      tls: { ca: readFileSync(certificate(server.folder)) },
    });
    await waitUntilReachable(limiter);
    expect(await limiter.count(rate, 'a')).toBeUndefined();
    await expect(untrusting.ping()).rejects.toThrow('self-signed');
    await untrusting.close();
  });
});
