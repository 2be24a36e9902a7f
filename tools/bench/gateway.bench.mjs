// Compares the gateway with itself without bounds and with nginx, all on loopback. Run alone: npm run bench -- gateway
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../start/workspace.mjs';
import { Child } from './gateway/child.mjs';
import { load, times } from './gateway/load.mjs';
import { startNginx } from './gateway/nginx.mjs';
import { startRedis } from './gateway/redis.mjs';

const APP = join(root, 'apps/homeserver-limits');
const ROUNDS = 21;
const LOAD = { connections: 32, ms: 500 };
/** Optimizing the code of the larger servers takes longer than that of the relay. */
const WARM_UP_MS = 6000;
const LONG_POLLS = 1000;
const FLOOD_MS = 2000;
const CPU_ROUNDS = 5;

const request = (method, target, body = '') =>
  Buffer.from(
    `${method} ${target} HTTP/1.1\r\nHost: b.example\r\nAuthorization: Bearer bench\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
const SEND = request(
  'PUT',
  '/_matrix/client/v3/rooms/!r:b.example/send/m.room.message/1',
  '{"msgtype":"m.text","body":"hello"}',
);
const SYNC = request('GET', '/_matrix/client/v3/sync?timeout=600000');
const LOGIN = request(
  'POST',
  '/_matrix/client/v3/login',
  '{"type":"m.login.password","user":"mallory","password":"guess"}',
);

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

function buildUnguarded(folder) {
  const vite = join(root, 'node_modules/vite/bin/vite.js');
  const args = [
    vite,
    'build',
    '--ssr',
    'src/bench/unguarded-gateway.bench.ts',
    '--outDir',
    folder,
    '--logLevel',
    'error',
  ];
  execFileSync(process.execPath, [...args, '--config', join(import.meta.dirname, 'vm-service/vite.config.js')], {
    cwd: APP,
    stdio: 'inherit',
  });
  return join(folder, 'unguarded-gateway.bench.js');
}

function startLimits(folder, name, toml) {
  const config = join(folder, `${name}.toml`);
  writeFileSync(config, toml);
  const args = ['--config', config, '--listen', '127.0.0.1:0', '--data-dir', join(folder, name)];
  return Child.start([join(APP, 'dist/main.js'), ...args]);
}

/**
 * Many short rounds in which all servers take turns, so that other load on the machine affects all of them. The ratio
 * is the median of the ratios of the rounds, so that a disturbed round has little weight.
 */
async function compareThroughput(servers, bytes = SEND) {
  const rates = servers.map(() => []);
  for (const { url } of servers) await load(url, bytes, { ...LOAD, ms: WARM_UP_MS });
  for (let round = 0; round < ROUNDS; round++) {
    for (const index of rotation(servers.length, round)) rates[index].push(await load(servers[index].url, bytes, LOAD));
  }
  const [ours] = rates;
  return rates.map((theirs) => ({
    value: median(theirs),
    ratio: median(ours.map((rate, round) => rate / theirs[round])),
  }));
}

/** Rotates the order, so that no server is always first. */
const rotation = (length, round) => Array.from({ length }, (_, i) => (i + round) % length);

/** RSS in MiB with open long polls, and how many of them are still open. */
async function memoryOfLongPolls(gateway) {
  const { hostname, port } = new URL(gateway.url);
  const sockets = Array.from({ length: LONG_POLLS }, () => connect(Number(port), hostname));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  for (const socket of sockets) socket.on('error', () => undefined).write(SYNC);
  await new Promise((resolve) => setTimeout(resolve, 3000));
  const open = sockets.filter((socket) => !socket.destroyed && socket.bytesRead === 0).length;
  const memory = gateway.memory;
  for (const socket of sockets) socket.destroy();
  return { memory, open };
}

/** CPU time per request in µs, with as many connections as in a flood. */
async function cpuOf(server, bytes) {
  await load(server.url, bytes, { ...LOAD, ms: 1000 });
  const before = server.cpu;
  const rate = await load(server.url, bytes, { ...LOAD, ms: FLOOD_MS });
  return (server.cpu - before) / ((rate * FLOOD_MS) / 1000);
}

/** Medians over rounds in which the exchanges take turns. */
async function compareCpu(exchanges) {
  const figures = exchanges.map(() => []);
  for (let round = 0; round < CPU_ROUNDS; round++) {
    for (const index of rotation(exchanges.length, round)) figures[index].push(await cpuOf(...exchanges[index]));
  }
  return figures.map(median);
}

async function verifications({ url }) {
  return Number(/^limits_password_verifications (\d+)$/m.exec(await (await fetch(`${url}/metrics`)).text())[1]);
}

/**
 * Logins, which take two decisions, with windows on a Redis server and in the gateway. Undefined if Redis is not
 * installed.
 */
async function compareShared(folder, upstream, gateway, keep) {
  const redis = await keep(startRedis(folder));
  if (!redis) return undefined;
  const toml = `[gateway]\nupstream = "${upstream.url}"\n[shared]\nurl = "${redis.url}"\n`;
  const sharing = await keep(startLimits(folder, 'sharing', toml));
  const [ours, local] = await compareThroughput([sharing, gateway], LOGIN);
  return { value: ours.value, ratio: local.ratio };
}

export default async function run() {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-bench-'));
  const started = [];
  const keep = async (starting) => {
    const server = await starting;
    if (server) started.push(server);
    return server;
  };
  try {
    const upstream = await keep(Child.start([join(import.meta.dirname, 'gateway/upstream.mjs')]));
    const gateway = await keep(startLimits(folder, 'gateway', `[gateway]\nupstream = "${upstream.url}"\n`));
    const unguarded = await keep(Child.start([buildUnguarded(folder), upstream.url]));
    const nginx = await keep(startNginx(join(folder, 'nginx'), upstream.url));
    const relay = await keep(Child.start([join(import.meta.dirname, 'gateway/relay.mjs'), upstream.url]));
    const [ours, bare, raw, other] = await compareThroughput([gateway, unguarded, relay, ...(nginx ? [nginx] : [])]);
    const shared = await compareShared(folder, upstream, gateway, keep);
    const flooded = gateway.memory;
    const quiet = await keep(startLimits(folder, 'quiet', `[gateway]\nupstream = "${upstream.url}"\n`));
    const polls = await memoryOfLongPolls(quiet);

    const embedded = await keep(startLimits(folder, 'embedded', '[server]\nname = "b.example"\n'));
    await times(embedded.url, LOGIN, 10);
    const before = await verifications(embedded);
    const plain = await keep(Child.start([join(import.meta.dirname, 'gateway/bare.mjs')]));
    const nothing = request('POST', '/_matrix/client/v3/nothing', '{}');
    const [refused, unknown, baseline] = await compareCpu([
      [embedded, LOGIN],
      [embedded, nothing],
      [plain, LOGIN],
    ]);
    const verified = (await verifications(embedded)) - before;

    return {
      name: 'gateway',
      rows: [
        {
          what: 'sends through the gateway',
          value: ours.value,
          unit: 'requests/s',
          ratio: bare.ratio,
          target: 'at least 0.9 of it without bounds',
          ok: bare.ratio >= 0.9,
        },
        { what: 'the same proxy without bounds', value: bare.value, unit: 'requests/s' },
        {
          what: 'a relay that reads the head and pipes the rest (ratio: the gateway to it)',
          value: raw.value,
          unit: 'requests/s',
          ratio: raw.ratio,
          target: 'at least 0.8',
          ok: raw.ratio >= 0.8,
        },
        shared
          ? {
              what: 'logins with shared windows (ratio: to windows of its own)',
              value: shared.value,
              unit: 'requests/s',
              ratio: shared.ratio,
              target: 'at least 0.9',
              ok: shared.ratio >= 0.9,
            }
          : { what: 'logins with shared windows: Redis is not installed here, skipped', value: 'skipped', unit: '' },
        nginx
          ? {
              what: 'nginx as a plain proxy, one worker (ratio: the gateway to it)',
              value: other.value,
              unit: 'requests/s',
              ratio: other.ratio,
            }
          : { what: 'nginx as a plain proxy: not installed here, skipped', value: 'skipped', unit: '' },
        {
          what: `memory with ${polls.open} long polls open`,
          value: polls.memory,
          unit: 'MiB',
          target: 'under 200',
          ok: polls.memory < 200 && polls.open === LONG_POLLS,
        },
        { what: 'memory of the gateway after these floods', value: flooded, unit: 'MiB' },
        {
          what: 'CPU of a refused login beyond that of an unknown path',
          value: Math.max(0, refused - unknown),
          unit: 'µs',
          target: 'under 50',
          ok: refused - unknown < 50,
        },
        { what: 'CPU of a refused login, including HTTP', value: refused, unit: 'µs' },
        { what: 'the same exchange with a plain Node server, without a framework', value: baseline, unit: 'µs' },
        {
          what: 'passwords verified by these refused logins',
          value: verified,
          unit: '',
          target: 'none',
          ok: verified === 0,
        },
      ],
    };
  } finally {
    for (const server of started.reverse()) await server.end();
    rmSync(folder, { recursive: true, force: true });
  }
}
