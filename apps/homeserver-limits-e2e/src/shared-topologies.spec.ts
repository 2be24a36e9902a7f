import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { call } from './testing/http-client.js';
import { LimitsProcess } from './testing/limits-process.js';
import { freshAddress } from './testing/matrix-user.js';
import { RecordingUpstream } from './testing/recording-upstream.js';
import { redisProgram, RedisServer } from './testing/redis-server.js';

const suite = redisProgram ? describe : describe.skip;
const missing = 'neither redis-server nor valkey-server is installed';
const SLOTS = 16_384;
const RETRY_MS = 50;
/** A busy machine must not make the server look slow. */
const TIMEOUT_MS = 1_500;

/** Repeats a check until it holds. */
async function until(check: () => Promise<boolean>): Promise<void> {
  for (let attempts = 0; !(await check()); attempts++) {
    if (attempts === 600) throw new Error('the state was not reached after 600 attempts');
    await setTimeout(RETRY_MS);
  }
}

suite(`gateways that share windows on ${redisProgram ?? `a server (${missing})`}`, () => {
  let upstream: RecordingUpstream;
  const opened: { dispose(): Promise<void> }[] = [];

  beforeAll(async () => {
    upstream = await RecordingUpstream.listen();
    upstream.respond = (_request, response) => {
      response.writeHead(403, { 'Content-Type': 'application/json' });
      response.end('{"errcode":"M_FORBIDDEN","error":"wrong"}');
    };
  });
  beforeEach(() => {
    upstream.requests.length = 0;
  });
  afterEach(async () => {
    for (const one of opened.splice(0).reverse()) await one.dispose();
  });
  afterAll(() => upstream.close());

  const keep = <One extends { dispose(): Promise<void> }>(one: One): One => {
    opened.push(one);
    return one;
  };

  const toml = (shared: string) =>
    `[server]\nname = "b.example"\ntrusted_proxies = ["127.0.0.0/8"]\n[gateway]\nupstream = "${upstream.url}"\n` +
    `[shared]\ntimeout_ms = ${TIMEOUT_MS}\n${shared}\n`;

  const startGateway = async (shared: string): Promise<LimitsProcess> => {
    const gateway = keep(await LimitsProcess.start(toml(shared)));
    await gateway.untilShared();
    return gateway;
  };

  async function login(gateway: LimitsProcess, user: string, from = freshAddress()): Promise<number> {
    const body = { type: 'm.login.password', user, password: 'guess' };
    return (await call(gateway.url, 'POST', '/_matrix/client/v3/login', { body, from })).status;
  }

  const isShared = async (gateway: LimitsProcess) =>
    (await call(gateway.url, 'GET', '/metrics')).bytes.toString().includes('limits_windows_are_shared 1');

  test('in a cluster of three nodes verify exactly five of a thousand parallel passwords', async () => {
    const nodes: RedisServer[] = [];
    for (let node = 0; node < 3; node++) nodes.push(keep(await RedisServer.startNode()));
    for (const [index, node] of nodes.entries()) {
      const [first, end] = [index, index + 1].map((part) => Math.floor((SLOTS * part) / nodes.length));
      await node.run(`CLUSTER ADDSLOTSRANGE ${first} ${end! - 1}`);
      if (index > 0) await nodes[0]!.run(`CLUSTER MEET 127.0.0.1 ${node.port} ${node.busPort}`);
    }
    for (const node of nodes) {
      await until(async () => {
        const info = await node.run('CLUSTER INFO');
        return info.includes('cluster_state:ok') && info.includes('cluster_known_nodes:3');
      });
    }
    // Each gateway knows another node.
    const gateways = [
      await startGateway(`cluster = ["redis://127.0.0.1:${nodes[0]!.port}"]`),
      await startGateway(`cluster = ["redis://127.0.0.1:${nodes[2]!.port}"]`),
    ];
    for (const user of ['nora', 'olga', 'pavel', 'quinn']) {
      upstream.requests.length = 0;
      const statuses = await Promise.all(Array.from({ length: 250 }, (_, i) => login(gateways[i % 2]!, user)));
      expect(statuses.filter((status) => status === 403)).toHaveLength(5);
      expect(upstream.requests).toHaveLength(5);
    }
    for (const gateway of gateways) expect(await isShared(gateway)).toBe(true);
    const sizes = await Promise.all(nodes.map((node) => node.run('DBSIZE')));
    for (const size of sizes) expect(Number(/^:(\d+)/.exec(size)?.[1])).toBeGreaterThan(0);
  });

  test('behind Sentinel follow the primary, and keep the replicated windows', async () => {
    const primary = keep(await RedisServer.start());
    const replica = keep(await RedisServer.startReplica(primary));
    const sentinel = keep(await RedisServer.startSentinel('limits', primary));
    await until(async () => (await replica.run('INFO replication')).includes('master_link_status:up'));
    await until(async () => (await sentinel.run('SENTINEL REPLICAS limits')).includes(String(replica.port)));
    const shared = `sentinel = { name = "limits", nodes = ["redis://127.0.0.1:${sentinel.port}"] }`;
    const gateways = [await startGateway(shared), await startGateway(shared)];
    for (let i = 0; i < 5; i++) expect(await login(gateways[i % 2]!, 'nora')).toBe(403);
    expect(await login(gateways[1]!, 'nora')).toBe(429);
    await until(async () => (await replica.run('DBSIZE')) === (await primary.run('DBSIZE')));
    await primary.kill();
    // Sentinel closes the connections of a server when it changes its role, also that of this command.
    const role = () => replica.run('INFO replication').catch(() => 'unknown');
    await until(async () => (await role()).includes('role:master'));
    for (const gateway of gateways) await gateway.untilShared();
    // A third gateway has no windows of its own.
    const third = await startGateway(shared);
    expect(await login(third, 'nora')).toBe(429);
  });

  test('let exactly five of a thousand parallel passwords pass with the default timeout, however busy they are', async () => {
    const redis = keep(await RedisServer.start());
    const gateway = keep(
      await LimitsProcess.start(
        `[server]\nname = "b.example"\ntrusted_proxies = ["127.0.0.0/8"]\n[gateway]\nupstream = "${upstream.url}"\n` +
          `[shared]\nurl = "redis://127.0.0.1:${redis.port}"\n`,
      ),
    );
    await gateway.untilShared();
    const statuses = await Promise.all(Array.from({ length: 1_000 }, () => login(gateway, 'nora')));
    expect(statuses.filter((status) => status === 403)).toHaveLength(5);
    expect(upstream.requests).toHaveLength(5);
  });

  test('key the digests of names and addresses with a secret that is never revealed', async () => {
    const redis = keep(await RedisServer.start());
    const gateway = keep(await LimitsProcess.prepare(''));
    const secretPath = join(gateway.folder, 'secret');
    const keysWith = async (secret: string | undefined) => {
      await redis.run('FLUSHALL');
      const url = `url = "redis://127.0.0.1:${redis.port}"`;
      await writeFile(secretPath, `${secret}\n`);
      await gateway.configure(toml(secret === undefined ? url : `${url}\nsecret_file = "${secretPath}"`));
      await gateway.launch();
      await gateway.untilShared();
      expect(await login(gateway, 'nora', '203.0.113.7')).toBe(403);
      const keys = await redis.run('KEYS *');
      await gateway.end();
      return /login_source:([\w-]{22})/.exec(keys)?.[1];
    };
    const plain = await keysWith(undefined);
    const one = await keysWith('hunter2-hunter2-a');
    expect(await keysWith('hunter2-hunter2-a')).toBe(one);
    const other = await keysWith('hunter2-hunter2-b');
    expect(new Set([plain, one, other]).size).toBe(3);
    expect(plain).toBe(await digestOf('203.0.113.7'));
    await writeFile(secretPath, 'hunter2\n');
    await expect(gateway.launch()).rejects.toThrow('the secret must be at least 16 characters');
    expect(JSON.stringify(gateway.log)).not.toContain('hunter2');
  });
});

async function digestOf(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', Buffer.from(text));
  return Buffer.from(bytes).toString('base64url').slice(0, 22);
}
