// The simulated cluster: its start, its memory, and the latency of its watches. Run alone: npm run bench -- sandbox
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SANDBOX_FLAGS } from '../start/run-service.mjs';
import { ensureBuilt, root } from '../start/workspace.mjs';
import { buildCluster } from './kube/build-cluster.mjs';
import { Cluster } from './kube/cluster.mjs';
import { quantile } from './kube/latency.mjs';
import { monotonic } from './kube/monotonic.mjs';
import { downloadDisk, hashOf, sparseDisk, uploadDisk } from './kube/simulated-disk.mjs';
import { VmWatch } from './kube/vm-watch.mjs';

const BARE_WATCH = join(import.meta.dirname, 'kube/bare-watch.mjs');
const FLEET = 10_000;
const STARTS = 3;
const PER_SECOND = 100;
const CHURN_MS = 30_000;
const REST_MS = 5_000;

/** Starts the stand-alone sandbox; resolves when it listens, with its cluster seeded. */
async function startSandbox(folder, args) {
  const kubeconfig = join(folder, `kubeconfig-${monotonic()}`);
  const program = join(root, 'libs/kubevirt-sandbox/dist/sandbox.js');
  const began = monotonic();
  const child = spawn(process.execPath, [...SANDBOX_FLAGS, program, '--kubeconfig', kubeconfig, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(createInterface({ input: child.stdout }), 'line');
  const took = monotonic() - began;
  const server = /server: (\S+)/.exec(readFileSync(kubeconfig, 'utf8'))[1];
  const end = async () => {
    const ended = once(child, 'exit');
    child.kill();
    await ended;
  };
  return { took, server, pid: child.pid, end };
}

async function startTime(folder, args) {
  const times = [];
  for (let index = 0; index < STARTS; index++) {
    const sandbox = await startSandbox(folder, args);
    times.push(sandbox.took);
    await sandbox.end();
  }
  return Math.min(...times);
}

/** Resident memory of a process in MiB. */
const residentMiB = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;

/** The largest resident memory that a process ever had, in MiB. */
const peakMiB = (pid) => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;

const DISK_BYTES = 4 * 1024 ** 3;
const FILLED_BYTES = 256 * 1024 ** 2;

/**
 * A large disk with few data that goes to one sandbox and from there to another: the memory of both, and the duration.
 */
async function movedDisk(folder) {
  const sandboxes = [await startSandbox(folder, []), await startSandbox(folder, [])];
  try {
    const began = monotonic();
    const [from, to] = sandboxes.map(({ server }) => server);
    await uploadDisk(from, DISK_BYTES, sparseDisk(DISK_BYTES, FILLED_BYTES));
    await uploadDisk(to, DISK_BYTES, await downloadDisk(from, 'gzip'));
    const took = monotonic() - began;
    const expected = await hashOf(sparseDisk(DISK_BYTES, FILLED_BYTES));
    if ((await hashOf(await downloadDisk(to, 'raw'))) !== expected) throw new Error('the moved disk has other bytes');
    return { took, peak: Math.max(...sandboxes.map(({ pid }) => peakMiB(pid))) };
  } finally {
    for (const sandbox of sandboxes) await sandbox.end();
  }
}

/** The resources of a fleet: the sandbox builds its objects when they are first read. */
const FLEET_PATHS = [
  '/apis/kubevirt.io/v1/virtualmachines',
  '/apis/kubevirt.io/v1/virtualmachineinstances',
  '/api/v1/pods',
  '/api/v1/persistentvolumeclaims',
  '/apis/cdi.kubevirt.io/v1beta1/datavolumes',
];
const PAGE = 500;

/** Reads a resource in pages, as clients do. @returns the number of its objects */
async function readAll(server, path) {
  let count = 0;
  let token = '';
  do {
    const page = await (await fetch(`${server}${path}?limit=${PAGE}&continue=${encodeURIComponent(token)}`)).json();
    count += page.items.length;
    token = page.metadata.continue ?? '';
  } while (token);
  return count;
}

/** A fleet of which every object was read once: its memory, and how long the first list of the VMs took. */
async function usedFleet(folder) {
  const sandbox = await startSandbox(folder, ['--vms', String(FLEET)]);
  try {
    const began = monotonic();
    const count = await readAll(sandbox.server, FLEET_PATHS[0]);
    const firstList = monotonic() - began;
    if (count !== FLEET) throw new Error(`the fleet has ${count} VMs, not ${FLEET}`);
    for (const path of FLEET_PATHS) await readAll(sandbox.server, path);
    await sleep(REST_MS);
    return { memory: residentMiB(sandbox.pid), firstList };
  } finally {
    await sandbox.end();
  }
}

/** A server whose changes are watched, with the times at which they happened. */
async function watched(script) {
  const cluster = await Cluster.start(script, FLEET);
  const changes = new Map();
  cluster.on('changed', (serial, at) => changes.set(serial, at));
  return { cluster, changes, watch: await VmWatch.open(cluster.kubeconfig) };
}

/**
 * Milliseconds from each change until a client has read it from its watch: of the sandbox, and of a server that only
 * writes prepared lines. Both run at the same time, so that their difference is the sandbox's part and the rest is the
 * machine's.
 */
async function watchLatencies(folder) {
  const servers = await Promise.all([buildCluster(join(folder, 'built')), BARE_WATCH].map(watched));
  try {
    for (const { cluster } of servers) await cluster.churn(PER_SECOND);
    await sleep(CHURN_MS);
    for (const { cluster, watch } of servers) await watch.waitFor(await cluster.stop());
    return servers.map(({ changes, watch }) => [...changes].map(([serial, at]) => watch.seen.get(serial) - at));
  } finally {
    for (const { cluster, watch } of servers) {
      watch.close();
      await cluster.end();
    }
  }
}

export default async function run() {
  await ensureBuilt(['@headgate/kubevirt-sandbox']);
  const folder = mkdtempSync(join(tmpdir(), 'headgate-bench-'));
  try {
    const demo = await startTime(folder, []);
    const fleet = await startTime(folder, ['--vms', String(FLEET)]);
    const { memory, firstList } = await usedFleet(folder);
    const disk = await movedDisk(folder);
    const [latencies, bare] = await watchLatencies(folder);
    const [slowest, bareSlowest] = [latencies, bare].map((values) => quantile(values, 0.99));
    return {
      name: 'sandbox',
      rows: [
        { what: 'start with the demo', value: demo, unit: 'ms', target: 'under 1500', ok: demo < 1500 },
        { what: `start with ${FLEET} VMs`, value: fleet, unit: 'ms', target: 'under 1500', ok: fleet < 1500 },
        { what: `the first list of ${FLEET} VMs, in pages`, value: firstList, unit: 'ms' },
        {
          what: `memory with ${FLEET} VMs, all read once (RSS)`,
          value: memory,
          unit: 'MiB',
          target: 'under 350',
          ok: memory < 350,
        },
        {
          what: 'memory of a sandbox while a disk of 4 GiB moves to another one, peak (RSS)',
          value: disk.peak,
          unit: 'MiB',
          target: 'under 300',
          ok: disk.peak < 300,
        },
        { what: 'that move, with 256 MiB of data', value: disk.took, unit: 'ms' },
        { what: `from a change to a watch, ${PER_SECOND}/s, median`, value: quantile(latencies, 0.5), unit: 'ms' },
        {
          what: `from a change to a watch, ${PER_SECOND}/s, 99th %`,
          value: slowest,
          unit: 'ms',
          target: 'under 10',
          ok: slowest < 10,
        },
        { what: 'the same from a bare server in the same run, median', value: quantile(bare, 0.5), unit: 'ms' },
        { what: 'the same from a bare server in the same run, 99th %', value: bareSlowest, unit: 'ms' },
        {
          what: '99th %, sandbox / bare server',
          value: slowest / bareSlowest,
          unit: '',
          target: 'under 1.5',
          ok: slowest / bareSlowest < 1.5,
        },
      ],
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === import.meta.filename) console.table((await run()).rows);
