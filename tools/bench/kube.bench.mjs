// The VM service with a simulated cluster of 10,000 VMs in another process: start, reads, changes, memory, consoles.
// Run alone: node tools/bench/kube.bench.mjs (with the Node that the lockfile brings, after npx nx build
// @headgate/vm-service)
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { buildCluster } from './kube/build-cluster.mjs';
import { Cluster } from './kube/cluster.mjs';
import { listLatencies, quantile, streamLatencies } from './kube/latency.mjs';
import { monotonic } from './kube/monotonic.mjs';
import { PrintingConsole } from './kube/printing-console.mjs';
import { changeCosts } from './kube/processor-cost.mjs';
import { Service } from './kube/service.mjs';

const FLEET = 10_000;
const SMALL_FLEET = 1_000;
const READS = 200;
const PER_SECOND = 100;
const CHURN_MS = 30_000;
const LIST_MS = 10_000;
const REST_MS = 3_000;
const CONSOLES = 50;
const PORTIONS = 40;
const COST = { rounds: 5, perSecond: 300, ms: 4_000 };

/**
 * Cluster requests caused by reading the list. Those of timers do not count: health probes of an idle server (`get
 * /version`) and the samples of resource usage.
 */
async function requestsOfReads(cluster, service) {
  await cluster.requests();
  for (let index = 0; index < READS; index++) await service.list();
  const isOfTimer = (name) => name === 'get /version' || name.endsWith('.metrics.k8s.io');
  return Object.entries(await cluster.requests())
    .filter(([name]) => !isOfTimer(name))
    .reduce((sum, [, count]) => sum + count, 0);
}

/** Throughput of all consoles together in MiB per second; every byte is compared. */
async function consoleThroughput(service) {
  const running = JSON.parse(String(await service.list())).filter(({ status }) => status === 'Running');
  const url = service.url.replace('http:', 'ws:');
  const consoles = await Promise.all(
    running
      .slice(0, CONSOLES)
      .map(({ namespace, name }) => PrintingConsole.open(`${url}/api/tty/${namespace}/${name}`, name)),
  );
  const before = consoles.reduce((sum, { bytes }) => sum + bytes, 0);
  const began = monotonic();
  await Promise.all(
    consoles.map(async (console) => {
      for (let number = 1; number <= PORTIONS; number++) await console.portion(number);
    }),
  );
  const took = monotonic() - began;
  const bytes = consoles.reduce((sum, one) => sum + one.bytes, 0) - before;
  for (const console of consoles) await console.close();
  return { count: consoles.length, perSecond: (bytes * 1000) / took / 1024 ** 2 };
}

/** Starts a cluster and a service for one fleet; `ends` collects the functions that stop them. */
async function startFleet(script, folder, size, ends) {
  mkdirSync(folder);
  const cluster = await Cluster.start(script, size);
  ends.push(() => cluster.end());
  const service = await Service.start(cluster.kubeconfig, folder);
  ends.push(() => service.end());
  return { cluster, service, firstList: await service.firstList(size) };
}

export default async function run() {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-bench-'));
  const ends = [];
  try {
    const script = buildCluster(join(folder, 'built'));
    const large = await startFleet(script, join(folder, 'large'), FLEET, ends);
    const { cluster, service } = large;
    const caused = await requestsOfReads(cluster, service);
    await sleep(REST_MS);
    const rest = service.memory();
    const stream = await streamLatencies(cluster, service, { perSecond: PER_SECOND, ms: CHURN_MS });
    const churned = service.memory();
    const lists = await listLatencies(cluster, service, { perSecond: PER_SECOND, ms: LIST_MS });
    const consoles = await consoleThroughput(service);
    const peak = service.memory('VmHWM');
    const small = await startFleet(script, join(folder, 'small'), SMALL_FLEET, ends);
    const [smallCost, largeCost] = await changeCosts([small, large], COST);
    const ratio = largeCost / smallCost;
    const within = (what, values, part) => ({
      what,
      value: quantile(values, part),
      unit: 'ms',
      ...(part === 0.99 ? { target: 'at most 250', ok: quantile(values, part) <= 250 } : {}),
    });
    return {
      name: 'kube',
      rows: [
        {
          what: `from start to the first complete list, ${FLEET} VMs`,
          value: large.firstList,
          unit: 'ms',
          target: 'at most 10000',
          ok: large.firstList <= 10_000,
        },
        {
          what: `requests at the cluster by ${READS} × GET /api/vms`,
          value: caused,
          unit: 'requests',
          target: 'none',
          ok: caused === 0,
        },
        { what: 'VMs changed in the cluster at the same time', value: stream.perSecond, unit: 'changes/s' },
        within('from a change to the event stream, median', stream.latencies, 0.5),
        within('from a change to the event stream, 99th %', stream.latencies, 0.99),
        within('from a change until a requested list shows it, median', lists.latencies, 0.5),
        within('from a change until a requested list shows it, 99th %', lists.latencies, 0.99),
        within('reading that list to its end, median', lists.readings, 0.5),
        { what: 'memory at rest (RSS)', value: rest, unit: 'MiB', target: 'under 350', ok: rest < 350 },
        {
          what: `memory after ${CHURN_MS / 1000} s of changes (RSS)`,
          value: churned,
          unit: 'MiB',
          target: 'under 350',
          ok: churned < 350,
        },
        {
          what: 'peak memory: lists, changes and consoles (RSS)',
          value: peak,
          unit: 'MiB',
          target: 'under 350',
          ok: peak < 350,
        },
        { what: `processor time of one change, ${SMALL_FLEET} VMs`, value: smallCost, unit: 'ms' },
        {
          what: `processor time of one change, ${FLEET} VMs`,
          value: largeCost,
          unit: 'ms',
          ratio,
          target: `at most 1.5 of ${SMALL_FLEET} VMs`,
          ok: ratio <= 1.5,
        },
        {
          what: `${consoles.count} serial consoles at the same time, every byte compared`,
          value: consoles.perSecond,
          unit: 'MiB/s',
          target: `${CONSOLES} consoles, none drops a byte`,
          ok: consoles.count === CONSOLES,
        },
      ],
    };
  } finally {
    for (const end of ends.reverse()) await end();
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(JSON.stringify(await run(), null, 2));
