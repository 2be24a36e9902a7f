import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LEVELS } from '../history/levels.js';
import { UsageHistory } from '../history/usage-history.js';
import type { Sample, SampledInstance } from '../usage.js';

// The history of many busy VMs on a disk, for tools/bench: `history.bench COUNT`, with --expose-gc. Prints one line of
// JSON: `memoryBytes` and `diskBytes` for each VM, `stepMs`, the CPU time of a step of three minutes, `pauseMs`, its
// pauses for other requests (99.9%), and `readMs`, the time to read 24 hours of one VM.

const count = Number(process.argv[2]);
/** So few VMs are recorded for so long that every file of every range is full. */
const FEW = 50;
const DAYS = 36;
const READS = 20;
const [{ stepMs }] = LEVELS;
const START = Date.UTC(2026, 0, 1);
const DAY_STEPS = 86_400_000 / stepMs;

const vms = Array.from({ length: count }, (_none, index): SampledInstance => {
  const ref = { kind: 'vm', context: 'lab', namespace: 'default', name: `vm-${index}` } as const;
  return { ref, uid: `6a1c1f52-0b2e-4c5b-9a52-${String(index).padStart(12, '0')}` };
});

function sampleOf(time: number, index: number): Sample {
  const noise = (time / stepMs) * 7919 + index * 104_729;
  return {
    time,
    cpuMillicores: noise % 4001,
    memoryUsedBytes: 2 ** 31 + (noise % 9973) * 4096,
    memoryTotalBytes: 2 ** 32,
    diskReadBytesPerSecond: (noise % 9941) * 300,
    diskWriteBytesPerSecond: (noise % 9949) * 500,
    networkReceiveBytesPerSecond: (noise % 9931) * 200,
    networkTransmitBytesPerSecond: (noise % 9929) * 100,
  };
}

const memory = async (): Promise<number> => {
  gc!();
  // The memory of arrays is returned later.
  await nextTurn();
  gc!();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

const sizeOf = (folder: string): number =>
  readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);

/** Records so many steps of the first VMs, and waits for each to be written. */
async function fill(folder: string, instances: readonly SampledInstance[], steps: number) {
  const clock = { now: () => time };
  let time = START;
  const history = new UsageHistory({ folder, clock });
  for (let step = 0; step < steps; step++) {
    time = START + step * stepMs;
    for (const [index, vm] of instances.entries()) {
      history.record(vm, sampleOf(time, index));
      // In the service, the sampler is what pauses here.
      if (index % 250 === 249) await nextTurn();
    }
    // Until it is written: only a few steps may wait.
    if (step % 2 === 0) await history.read(instances[0]!, '24h');
  }
  await history.read(instances[0]!, '24h');
  return history;
}

const folder = mkdtempSync(join(tmpdir(), 'headgate-history-'));
try {
  const long = await fill(join(folder, 'long'), vms.slice(0, FEW), DAYS * DAY_STEPS);
  await long.close();
  const diskBytes = sizeOf(join(folder, 'long')) / FEW;

  const before = await memory();
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const began = process.cpuUsage();
  const history = await fill(join(folder, 'many'), vms, DAY_STEPS);
  const { user, system } = process.cpuUsage(began);
  delay.disable();
  const memoryBytes = ((await memory()) - before) / count;
  const startedAt = performance.now();
  let points = 0;
  for (let index = 0; index < READS; index++) points += (await history.read(vms[index * 7]!, '24h')).length;
  const readMs = (performance.now() - startedAt) / READS;
  if (points < READS * (DAY_STEPS - 1)) throw new Error(`only ${points} points were read`);
  await history.close();
  const figures = {
    memoryBytes,
    diskBytes,
    stepMs: (user + system) / 1000 / DAY_STEPS,
    readMs,
    pauseMs: delay.percentile(99.9) / 1e6,
  };
  process.stdout.write(`${JSON.stringify(figures)}\n`);
} finally {
  rmSync(folder, { recursive: true });
}
