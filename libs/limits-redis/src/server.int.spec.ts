import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FallbackWindows, RateWindows } from '@headgate/limits-core';
import { RedisConnection, type ServerOptions } from './redis-connection.js';
import { RedisWindows } from './redis-windows.js';
import { ServerAway, ServerTooSlow } from './server-errors.js';
import { answering } from './testing/answering.js';
import { TestServer, plain, serverProgram } from './testing/test-server.js';

// Without a server's program there is nothing to talk to: the title says so in the list of what was skipped.
const suite = serverProgram ? describe : describe.skip;
const canCertify = spawnSync('openssl', ['version']).status === 0;

suite(
  `The server of shared windows (${serverProgram ?? 'neither redis-server nor valkey-server is installed'})`,
  () => {
    let server: TestServer;
    let windows: RedisWindows;
    const rate = new RateWindows().define('login.account', { limit: 2, windowMs: 60_000 });
    const claims = [
      { rate, key: 'alice' },
      { rate, key: 'bob' },
    ];

    async function open(options: Partial<ServerOptions>, start = plain): Promise<void> {
      server = await TestServer.start(start);
      windows = RedisWindows.open({ url: server.url, timeoutMs: 5000, ...options });
    }
    async function administer(...commands: string[][]): Promise<void> {
      const admin = new RedisConnection({ url: server.url, timeoutMs: 5000 });
      await answering({ ping: async () => void (await admin.run(['PING'])) });
      for (const command of commands) await admin.run(command);
      admin.close();
    }

    afterEach(async () => {
      await windows.close();
      await server.close();
    });

    test('is given its scripts again after it has lost them', async () => {
      await open({});
      await answering(windows);
      expect(await windows.count(rate, 'a')).toBeUndefined();
      await server.stop();
      await server.start();
      await answering(windows);
      expect(await windows.count(rate, 'a')).toBeUndefined();
    });

    test('is left for the windows of the node when it stands still, and asked for nothing when it goes on', async () => {
      await open({ timeoutMs: 50 });
      await answering(windows);
      const lost: unknown[] = [];
      const fallback = new FallbackWindows(windows, new RateWindows(), { onChange: (error) => lost.push(error) });
      const local = fallback.define('login.account', { limit: 2, windowMs: 60_000 });
      expect(await fallback.count(local, 'a')).toBeUndefined();
      server.freeze();
      expect(await fallback.count(local, 'a')).toBeUndefined();
      expect(await fallback.count(local, 'a')).toMatchObject({ granted: false });
      expect(lost).toEqual([expect.any(ServerTooSlow)]);
      server.thaw();
      await answering(windows);
    });

    test('needs no more rights than the README says', async () => {
      await open({ username: 'limits', password: 'p@ss:word/#' });
      await expect(windows.ping()).rejects.toThrow(ServerAway);
      const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');
      const [, rule] = /^ACL (SETUSER limits .*)$/m.exec(readme)!;
      await administer(['ACL', ...rule!.replace('PASSWORD', 'p@ss:word/#').split(' ')]);
      await answering(windows);
      const room = await windows.reserve(claims);
      if (room.granted) await room.keep();
      expect(await windows.peek(rate, 'alice')).toMatchObject({ counted: 1 });
      expect(await windows.count(rate, 'bob')).toBeUndefined();
      expect(await windows.forgive(rate, 'alice')).toBe(true);
    });

    test('says why it does not let us in, without the password', async () => {
      await open({ username: 'limits', password: 'hunter2' });
      const refusal = async () => {
        const error: unknown = await windows.ping().catch((reason: unknown) => reason);
        return error instanceof Error ? error.message : 'none';
      };
      while (!(await refusal()).includes('WRONGPASS')) await new Promise((next) => setTimeout(next, 10));
      expect(await refusal()).not.toContain('hunter2');
    });

    test('rejects instead of letting through when it has no memory left', async () => {
      await open({});
      await administer(['CONFIG', 'SET', 'maxmemory', '1']);
      await answering(windows);
      await expect(windows.count(rate, 'a')).rejects.toThrow('OOM');
    });

    test('may be a node of a cluster that holds the slot of the prefix', async () => {
      await open({}, (_folder, port) => ['--port', String(port), '--cluster-enabled', 'yes']);
      await administer(['CLUSTER', 'ADDSLOTSRANGE', '0', '16383']);
      await answering(windows);
      let room = await windows.reserve(claims).catch(() => undefined);
      while (!room) room = await windows.reserve(claims).catch(() => undefined);
      expect(room.granted).toBe(true);
    });

    test('is told apart from nothing at all', async () => {
      await open({ url: 'redis://127.0.0.1:1' });
      await expect(windows.count(rate, 'a')).rejects.toThrow(ServerAway);
      await windows.close();
      await expect(windows.count(rate, 'a')).rejects.toThrow('it was closed here');
    });

    (canCertify ? test : test.skip)(
      `is believed over TLS when its authority is ours${canCertify ? '' : ' (openssl is not installed)'}`,
      async () => {
        const certificate = (folder: string) => join(folder, 'server.crt');
        await open({}, (folder, port) => {
          const key = join(folder, 'server.key');
          const request = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
          const names = ['-subj', '/CN=windows', '-addext', 'subjectAltName=IP:127.0.0.1'];
          const made = spawnSync('openssl', ['req', ...request, ...names, '-keyout', key, '-out', certificate(folder)]);
          if (made.status !== 0) throw new Error(made.stderr.toString());
          const files = ['--tls-cert-file', certificate(folder), '--tls-key-file', key];
          return ['--port', '0', '--tls-port', String(port), ...files, '--tls-auth-clients', 'no'];
        });
        await windows.close();
        const url = `rediss://127.0.0.1:${server.port}`;
        const stranger = RedisWindows.open({ url, timeoutMs: 5000 });
        windows = RedisWindows.open({ url, timeoutMs: 5000, tls: { ca: readFileSync(certificate(server.folder)) } });
        await answering(windows);
        expect(await windows.count(rate, 'a')).toBeUndefined();
        await expect(stranger.ping()).rejects.toThrow('self-signed');
        await stranger.close();
      },
    );
  },
);
