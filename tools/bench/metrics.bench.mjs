// The exposition at /metrics, and the samples of resource usage: the processor time of the VM service that samples a
// simulated cluster of 10,000 VMs, and the memory of an hour of samples. Run alone: node tools/bench/metrics.bench.mjs
// (with the Node that the lockfile brings, after npx nx build
// @headgate/vm-service)
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { buildCluster } from './kube/build-cluster.mjs';
import { Cluster } from './kube/cluster.mjs';
import { Service } from './kube/service.mjs';

const root = join(import.meta.dirname, '../..');
const FLEET = 10_000;
const INTERVAL_MS = 15_000;
/** A whole number of intervals. */
const MEASURED_MS = 60_000;
const MAX_SHARE = 5;
const MAX_SERIES_BYTES = 2048;
const MAX_HISTORY_BYTES = 2048;
/** For each VM, with all ranges full. */
const MAX_HISTORY_DISK_BYTES = 72 * 1024;
const MAX_SCRAPE_MS = 5;
/** A scrape may only allocate its headers and the age of the snapshot, whatever the size of the fleet. */
const MAX_SCRAPE_BYTES = 16_384;

/** Bundles a measuring program of a project, and returns the figures that it prints. */
function measure(folder, project, name) {
  const vite = join(root, 'node_modules/vite/bin/vite.js');
  const config = join(import.meta.dirname, 'vm-service/vite.config.js');
  const args = ['build', '--ssr', `src/bench/${name}.ts`, '--outDir', folder, '--logLevel', 'error'];
  const cwd = join(root, project);
  execFileSync(process.execPath, [vite, ...args, '--config', config], { cwd, stdio: 'inherit' });
  const program = ['--expose-gc', join(folder, `${name}.js`), String(FLEET)];
  return JSON.parse(execFileSync(process.execPath, program, { encoding: 'utf8' }));
}

/** Waits until most running VMs have samples, and returns how many have. */
async function untilMeasured(service) {
  for (;;) {
    const count = (await (await fetch(`${service.url}/api/vms?usage=only`)).json()).length;
    if (count > FLEET / 2) return count;
    await sleep(1000);
  }
}

async function measureService(folder) {
  const cluster = await Cluster.start(buildCluster(join(folder, 'built')), FLEET);
  try {
    mkdirSync(join(folder, 'service'));
    const service = await Service.start(cluster.kubeconfig, join(folder, 'service'));
    try {
      await service.firstList(FLEET);
      const measured = await untilMeasured(service);
      const before = service.processorTime();
      await sleep(MEASURED_MS);
      return { measured, perSample: (service.processorTime() - before) / (MEASURED_MS / INTERVAL_MS) };
    } finally {
      await service.end();
    }
  } finally {
    await cluster.end();
  }
}

export default async function run() {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-bench-'));
  try {
    const { tickMs, seriesBytes } = measure(folder, 'apps/vm-service', 'sampling.bench');
    const { decodeMs } = measure(folder, 'libs/libvirt-rpc', 'statistics.bench');
    const history = measure(folder, 'libs/metrics', 'history.bench');
    const libvirtShare = ((tickMs + decodeMs) / INTERVAL_MS) * 100;
    const { plain, gzip, scrapeBytes, collectionMs, longestPauseMs } = measure(
      folder,
      'apps/vm-service',
      'scrape.bench',
    );
    const { measured, perSample } = await measureService(folder);
    const share = (perSample / INTERVAL_MS) * 100;
    return {
      name: 'metrics',
      rows: [
        {
          what: `a scrape of ${FLEET} instances, ${(plain.bytes / 1024 ** 2).toFixed(1)} MiB`,
          value: plain.ms,
          unit: 'ms of service time',
          target: `under ${MAX_SCRAPE_MS}`,
          ok: plain.ms < MAX_SCRAPE_MS,
        },
        {
          what: `the same with gzip, ${(gzip.bytes / 1024).toFixed(0)} KiB`,
          value: gzip.ms,
          unit: 'ms of service time',
          target: `under ${MAX_SCRAPE_MS}`,
          ok: gzip.ms < MAX_SCRAPE_MS,
        },
        {
          what: 'memory that reading the exposition allocates',
          value: scrapeBytes,
          unit: 'bytes',
          target: `under ${MAX_SCRAPE_BYTES}`,
          ok: scrapeBytes < MAX_SCRAPE_BYTES,
        },
        { what: `one collection of ${FLEET} instances`, value: collectionMs, unit: 'ms of CPU' },
        { what: 'its longest pause for other requests', value: longestPauseMs, unit: 'ms' },
        { what: `one sample of ${FLEET} VMs, without the backend`, value: tickMs, unit: 'ms of CPU' },
        { what: `the statistics of ${FLEET} running domains, decoded`, value: decodeMs, unit: 'ms of CPU' },
        {
          what: 'both every 15 s',
          value: libvirtShare,
          unit: '% of a core',
          target: `under ${MAX_SHARE}`,
          ok: libvirtShare < MAX_SHARE,
        },
        {
          what: 'an hour of samples, per VM and series',
          value: seriesBytes,
          unit: 'bytes',
          target: `under ${MAX_SERIES_BYTES}`,
          ok: seriesBytes < MAX_SERIES_BYTES,
        },
        {
          what: 'the history of 30 days, per VM',
          value: history.memoryBytes,
          unit: 'bytes of memory',
          target: `under ${MAX_HISTORY_BYTES}`,
          ok: history.memoryBytes < MAX_HISTORY_BYTES,
        },
        {
          what: 'the same',
          value: history.diskBytes,
          unit: 'bytes of disk',
          target: `under ${MAX_HISTORY_DISK_BYTES}`,
          ok: history.diskBytes < MAX_HISTORY_DISK_BYTES,
        },
        { what: `a step of ${FLEET} VMs, every 3 minutes`, value: history.stepMs, unit: 'ms of CPU' },
        { what: 'its pauses for other requests (99.9%)', value: history.pauseMs, unit: 'ms' },
        { what: '24 hours of one of them', value: history.readMs, unit: 'ms' },
        { what: `VMs measured of ${FLEET} on a cluster`, value: measured, unit: 'VMs' },
        {
          what: 'the whole service, idle but for a sample every 15 s',
          value: share,
          unit: '% of a core',
          target: `under ${MAX_SHARE}`,
          ok: share < MAX_SHARE,
        },
      ],
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(JSON.stringify(await run(), null, 2));
