// Event streams: the CPU cost of many viewers while the fleet changes, compared with a bare fan-out of the same bytes.
// Alone: node tools/bench/streams.bench.mjs (with the Node from the lockfile)
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { VM_SERVICE_FLAGS } from '../start/run-service.mjs';
import { startChild } from './vm-service/child.mjs';

const root = join(import.meta.dirname, '../..');
const part = (name) => join(import.meta.dirname, 'streams', name);
/** Small, so that the snapshots are sent before the measurement begins. */
const FLEET = 1000;
const VIEWERS = 1000;
const CHANGES_PER_SECOND = 100;
const BATCH_INTERVAL_MS = 250;
const MEASURE_MS = 10_000;
/** Length of the kernel's clock tick, in which /proc counts CPU time. */
const TICK_MS = 1000 / Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

const stat = (pid) =>
  readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
const cpuMs = (pid) => (Number(stat(pid)[11]) + Number(stat(pid)[12])) * TICK_MS;

/** Share of one core that a process uses, in percent. */
async function cpuPercent(pid) {
  const began = performance.now();
  const before = cpuMs(pid);
  await pause(MEASURE_MS);
  return ((cpuMs(pid) - before) * 100) / (performance.now() - began);
}

/** The CPU share of a server with viewers, and the bytes that each viewer receives per second. */
async function withViewers(pid, port) {
  const viewers = await startChild(part('viewers.mjs'), [String(port), String(VIEWERS)]);
  const bytes = async () => {
    const answer = viewers.line();
    viewers.ask();
    return Number(await answer);
  };
  await pause(1000);
  const before = await bytes();
  const percent = await cpuPercent(pid);
  const received = ((await bytes()) - before) / VIEWERS / (MEASURE_MS / 1000);
  await viewers.end();
  return { percent, bytesPerSecond: received };
}

export default async function run() {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-bench-'));
  const children = [];
  const start = async (...args) => {
    const child = await startChild(...args);
    children.push(child);
    return child;
  };
  try {
    const config = join(import.meta.dirname, 'vm-service/vite.config.js');
    const build = [
      'build',
      '--ssr',
      'src/bench/fixed-fleet.bench.ts',
      '--outDir',
      folder,
      '--logLevel',
      'error',
      '--config',
      config,
    ];
    execFileSync(process.execPath, [join(root, 'node_modules/vite/bin/vite.js'), ...build], {
      cwd: join(root, 'apps/vm-service'),
      stdio: 'inherit',
    });
    const args = [String(FLEET), '', String(CHANGES_PER_SECOND)];
    const service = await start(join(folder, 'fixed-fleet.bench.js'), args, VM_SERVICE_FLAGS);
    await fetch(`http://127.0.0.1:${service.port}/api/vms`);
    const quiet = await cpuPercent(service.pid);
    const ours = await withViewers(service.pid, service.port);
    const batchBytes = Math.round((ours.bytesPerSecond * BATCH_INTERVAL_MS) / 1000);
    const bare = await start(part('bare-fan-out.mjs'), [String(BATCH_INTERVAL_MS), String(batchBytes)]);
    const plain = await withViewers(bare.pid, bare.port);
    return {
      name: 'streams',
      rows: [
        {
          what: `CPU with ${VIEWERS} viewers, ${CHANGES_PER_SECOND} changes/s, ${FLEET} instances`,
          value: ours.percent,
          unit: '% of a core',
          ratio: ours.percent / plain.percent,
          target: 'under 15',
          ok: ours.percent < 15,
        },
        { what: 'the same changes without viewers', value: quiet, unit: '% of a core' },
        { what: 'a bare fan-out of the same bytes', value: plain.percent, unit: '% of a core' },
        { what: 'received by each viewer', value: ours.bytesPerSecond / 1024, unit: 'KiB/s' },
      ],
    };
  } finally {
    for (const child of children.reverse()) await child.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(JSON.stringify(await run(), null, 2));
