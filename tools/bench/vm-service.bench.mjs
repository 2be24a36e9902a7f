// The VM service: its list compared with a bare route, a large list, a console compared with a plain pipe, startup time
// and memory. Run alone: node tools/bench/vm-service.bench.mjs (with the Node that the lockfile brings)
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'ws';
import { startChild } from './vm-service/child.mjs';
import { VM_SERVICE_FLAGS } from '../start/run-service.mjs';
import { RawClient } from './vm-service/raw-client.mjs';

const root = join(import.meta.dirname, '../..');
const part = (name) => join(import.meta.dirname, 'vm-service', name);
const FLEET = 10_000;
const LARGE_FLEET = 100_000;
const MAX_LIST_MS = 10;
const MAX_HEAP_KIB = 1.5;
const ROUNDS = 7;
const ROUND_MS = 1000;
const CONSOLE_BYTES = 128 * 1024 ** 2;
const CONSOLE_ROUNDS = 15;

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const now = () => performance.now();

/** Requests per second on four connections. */
async function throughput(port) {
  const clients = await Promise.all(Array.from({ length: 4 }, () => RawClient.open(port)));
  const until = now() + ROUND_MS;
  const began = now();
  let count = 0;
  await Promise.all(
    clients.map(async (client) => {
      while (now() < until) {
        await client.get('/api/vms');
        count++;
      }
    }),
  );
  const perSecond = (count * 1000) / (now() - began);
  for (const client of clients) client.close();
  return perSecond;
}

/** Alternating rounds, so that other load on the machine affects both, and the median of the ratios of all pairs. */
async function compare(ours, theirs, rounds = ROUNDS) {
  const pairs = [];
  await ours();
  await theirs();
  for (let round = 0; round < rounds; round++) pairs.push([await ours(), await theirs()]);
  return {
    ours: median(pairs.map(([a]) => a)),
    theirs: median(pairs.map(([, b]) => b)),
    ratio: median(pairs.map(([a, b]) => a / b)),
  };
}

async function unchanged(port) {
  const client = await RawClient.open(port);
  const { etag } = await client.get('/api/vms');
  const times = [];
  for (let index = 0; index < 3000; index++) {
    const began = now();
    const { status } = await client.get('/api/vms', `If-None-Match: ${etag}\r\n`);
    if (status !== 304) throw new Error(`expected 304, got ${status}`);
    times.push(now() - began);
  }
  client.close();
  return median(times);
}

/** Bytes per second that a console sends to its viewer. */
async function consoleThroughput(url) {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  await once(socket, 'open');
  const began = now();
  let bytes = 0;
  await new Promise((resolve) => {
    socket.on('message', (data) => {
      bytes += data.length;
      if (bytes >= CONSOLE_BYTES) resolve();
    });
  });
  const perSecond = (bytes * 1000) / (now() - began);
  socket.terminate();
  await once(socket, 'close');
  return perSecond;
}

const residentMiB = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;

/**
 * Milliseconds from the start of the process until it is ready, and its memory when idle.
 * @param {string} folder for its data
 * @param {string} cache a folder with V8's compiled code of an earlier start; empty for a start without one
 */
async function startUp(folder, cache) {
  const main = join(root, 'apps/vm-service/dist/main.js');
  const args = [
    '--disable-warning=ExperimentalWarning',
    ...VM_SERVICE_FLAGS,
    main,
    '--local',
    '--listen',
    '127.0.0.1:0',
    '--data-dir',
    folder,
  ];
  const began = now();
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_COMPILE_CACHE: cache },
  });
  let output = '';
  while (!/:(\d+)\n/.test(output)) output += String((await once(child.stdout, 'data'))[0]);
  const client = await RawClient.open(Number(/:(\d+)\n/.exec(output)[1]));
  if ((await client.get('/readyz')).status !== 200) throw new Error('not ready');
  const ready = now() - began;
  for (const path of ['/api/vms', '/api/capabilities', '/']) await client.get(path);
  await new Promise((resolve) => setTimeout(resolve, 3000));
  const memory = residentMiB(child.pid);
  client.close();
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
  return { ready, memory };
}

export default async function run() {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-bench-'));
  const socket = join(folder, 'pour.sock');
  const children = [];
  const start = async (...args) => {
    const child = await startChild(...args);
    children.push(child);
    return child;
  };
  try {
    const build = (entry) => {
      const vite = join(root, 'node_modules/vite/bin/vite.js');
      const args = [
        'build',
        '--ssr',
        entry,
        '--outDir',
        folder,
        '--logLevel',
        'error',
        '--config',
        part('vite.config.js'),
      ];
      execFileSync(process.execPath, [vite, ...args], { cwd: join(root, 'apps/vm-service'), stdio: 'inherit' });
    };
    build('src/bench/large-fleet.bench.ts');
    const large = JSON.parse(
      execFileSync(
        process.execPath,
        ['--expose-gc', ...VM_SERVICE_FLAGS, join(folder, 'large-fleet.bench.js'), String(LARGE_FLEET)],
        { encoding: 'utf8' },
      ),
    );
    build('src/bench/fixed-fleet.bench.ts');
    await start(part('pouring-socket.mjs'), [socket, String(CONSOLE_BYTES + 1024 ** 2)]);
    const service = await start(join(folder, 'fixed-fleet.bench.js'), [String(FLEET), socket], VM_SERVICE_FLAGS);
    const list = join(folder, 'list.json');
    writeFileSync(list, Buffer.from(await (await fetch(`http://127.0.0.1:${service.port}/api/vms`)).arrayBuffer()));
    const bare = await start(part('bare-route.mjs'), [list]);
    const pipe = await start(part('plain-pipe.mjs'), [socket]);

    const lists = await compare(
      () => throughput(service.port),
      () => throughput(bare.port),
    );
    const same = await unchanged(service.port);
    // Runs right after the lists in the same process, because their garbage must not slow down consoles. Each round
    // uses a different VM; every fourth VM is stopped.
    let last = 0;
    const nextVm = () => {
      last += last % 4 === 3 ? 2 : 1;
      return `team-${last % 40}/vm-${String(last).padStart(5, '0')}`;
    };
    const plain = () => consoleThroughput(`ws://127.0.0.1:${pipe.port}/`);
    const consoleOf = (kind) => () => consoleThroughput(`ws://127.0.0.1:${service.port}/api/${kind}/${nextVm()}`);
    const viewer = await compare(consoleOf('tty'), plain, CONSOLE_ROUNDS);
    const screen = await compare(consoleOf('vnc'), plain, CONSOLE_ROUNDS);
    const cache = join(folder, 'compiled');
    await startUp(join(folder, 'data'), cache);
    const starts = { first: [], later: [] };
    for (let index = 0; index < 5; index++) {
      starts.first.push(await startUp(join(folder, `data-first-${index}`), ''));
      starts.later.push(await startUp(join(folder, `data-later-${index}`), cache));
    }
    const started = (kind, figure) => median(starts[kind].map((one) => one[figure]));
    const mib = (bytes) => bytes / 1024 ** 2;
    return {
      name: 'vm-service',
      rows: [
        {
          what: `GET /api/vms, ${FLEET} instances`,
          value: lists.ours,
          unit: 'requests/s',
          ratio: lists.ratio,
          target: 'at least 0.7 of a bare route',
          ok: lists.ratio >= 0.7,
        },
        {
          what: `serializing the list after one change, ${LARGE_FLEET} instances`,
          value: large.listMs,
          unit: 'ms',
          target: `under ${MAX_LIST_MS}`,
          ok: large.listMs < MAX_LIST_MS,
        },
        {
          what: `heap and list bytes per instance, ${LARGE_FLEET} instances`,
          value: large.heapBytes / 1024,
          unit: 'KiB',
          target: `under ${MAX_HEAP_KIB}`,
          ok: large.heapBytes / 1024 < MAX_HEAP_KIB,
        },
        { what: 'a bare route that sends the same bytes', value: lists.theirs, unit: 'requests/s' },
        {
          what: 'GET /api/vms, unchanged (304), with the client',
          value: same,
          unit: 'ms',
          target: 'under 1',
          ok: same < 1,
        },
        {
          what: 'a serial console',
          value: mib(viewer.ours),
          unit: 'MiB/s',
          ratio: viewer.ratio,
          target: 'at least 0.9 of a plain pipe',
          ok: viewer.ratio >= 0.9,
        },
        {
          what: 'a graphical console',
          value: mib(screen.ours),
          unit: 'MiB/s',
          ratio: screen.ratio,
          target: 'at least 0.9 of a plain pipe',
          ok: screen.ratio >= 0.9,
        },
        { what: 'a plain WebSocket-to-socket pipe', value: mib(viewer.theirs), unit: 'MiB/s' },
        { what: 'from process start to ready, without compiled code', value: started('first', 'ready'), unit: 'ms' },
        {
          what: 'from process start to ready, with the compiled code of an earlier start',
          value: started('later', 'ready'),
          unit: 'ms',
          target: 'at most 500',
          ok: started('later', 'ready') <= 500,
        },
        {
          what: 'idle memory (RSS), one libvirt context, without compiled code',
          value: started('first', 'memory'),
          unit: 'MiB',
        },
        {
          what: 'the same with compiled code',
          value: started('later', 'memory'),
          unit: 'MiB',
          target: 'at most 120',
          ok: started('later', 'memory') <= 120,
        },
      ],
    };
  } finally {
    for (const child of children.reverse()) await child.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(JSON.stringify(await run(), null, 2));
