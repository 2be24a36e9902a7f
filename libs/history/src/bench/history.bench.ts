import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Clock } from '@headgate/domain-contracts';
import { FleetHistory } from '../fleet-history.js';
import type { RecordedEvent } from '../recorded.js';
import { RandomFleet, seededRandom } from '../testing/random-fleet.js';

// A million changes of many VMs on a disk, for tools/bench: `history.bench COUNT CHANGES`. Prints one line of JSON:
// `diskBytes` in all, `singleBytes` of a change that is alone in its second, `changeMicroseconds` of CPU time,
// `pauseMs`, the pauses for other requests while it records (99.9%), and `plainPauseMs` of the same changes without a
// recording, `readMs` and `longestReadMs`, the time of a list as of a moment, `readCpuMs`, `plainMs`, the time to read
// the list from one file of JSON, and `scanMs`, that of all changes of one VM.

const count = Number(process.argv[2]);
const changes = Number(process.argv[3]);
/** The changes of a second in a busy fleet, which has a million in 11 hours. */
const PER_WRITE = 25;
const SINGLE = 500;
const READS = 30;
const DAYS = 30;

/** The changes are spread over almost all days. */
class BenchClock extends Clock {
  time = Date.UTC(2026, 0, 1);

  override now(): number {
    return this.time;
  }

  override after(): () => void {
    return () => undefined;
  }
}

const sizeOf = (folder: string): number =>
  readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);

const delayOf = () => {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  return (): number => {
    delay.disable();
    return delay.percentile(99.9) / 1e6;
  };
};

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;

const timeOf = async (work: () => unknown): Promise<number> => {
  const began = performance.now();
  await work();
  return performance.now() - began;
};

const folder = mkdtempSync(join(tmpdir(), 'headgate-history-'));
try {
  const clock = new BenchClock();
  const recorder: { history?: FleetHistory } = {};
  const fleet = new RandomFleet(1, count, (event: RecordedEvent) => recorder.history?.record(event));
  const history = new FleetHistory({ folder, clock, fleet, days: DAYS, maxBytes: 300 * 1024 ** 2, minFreeBytes: 0 });
  await history.start();
  recorder.history = history;
  const [first] = fleet.entries();
  const start = clock.now();
  const written = () => history.changes({ from: 0, to: start, limit: 1 }).catch(() => undefined);
  const stepMs = Math.floor(((DAYS - 2) * 86_400_000) / (changes / PER_WRITE));

  const plain = new RandomFleet(1, count);
  const endPlainDelay = delayOf();
  for (let done = 0; done < changes / 10; done += PER_WRITE) {
    for (let index = 0; index < PER_WRITE; index++) plain.changeOne();
    await nextTurn();
  }
  const plainPauseMs = endPlainDelay();

  const endDelay = delayOf();
  let cpuMicroseconds = 0;
  for (let done = 0; done < changes; done += PER_WRITE) {
    clock.time += stepMs;
    for (let index = 0; index < PER_WRITE; index++) fleet.changeOne();
    const began = process.cpuUsage();
    await written();
    const { user, system } = process.cpuUsage(began);
    cpuMicroseconds += user + system;
    await nextTurn();
  }
  const pauseMs = endDelay();
  const diskBytes = sizeOf(folder);

  const random = seededRandom(2);
  const readTimes: number[] = [];
  const plainTimes: number[] = [];
  const list = join(folder, 'list.json');
  writeFileSync(list, JSON.stringify([...fleet.entries()]));
  let readCpuMicroseconds = 0;
  for (let index = 0; index < READS; index++) {
    const time = start + Math.floor(random() * (clock.now() - start));
    const before = process.cpuUsage();
    readTimes.push(
      await timeOf(async () => {
        const { entries, gap } = await history.at(time);
        if (entries.length !== count || gap) throw new Error(`a list of ${entries.length} entries`);
      }),
    );
    const { user, system } = process.cpuUsage(before);
    readCpuMicroseconds += user + system;
    plainTimes.push(await timeOf(() => JSON.parse(readFileSync(list, 'utf8'))));
  }
  rmSync(list);
  const began = performance.now();
  const { context, namespace, name, kind } = first!.instance.ref;
  let after: string | undefined;
  let found = 0;
  do {
    const query = { from: start, to: clock.now(), limit: 1000, ref: `${kind}/${context}/${namespace}/${name}` };
    const page = await history.changes({ ...query, ...(after !== undefined && { after }) });
    found += page.changes.length;
    after = page.cursor;
  } while (after !== undefined);
  const scanMs = performance.now() - began;
  if (found === 0) throw new Error('no changes were found');

  const before = sizeOf(folder);
  for (let index = 0; index < SINGLE; index++) {
    clock.time += 1000;
    fleet.changeOne();
    await written();
  }
  const singleBytes = (sizeOf(folder) - before) / SINGLE;
  await history.close();
  const figures = {
    diskBytes,
    files: readdirSync(folder).length,
    singleBytes,
    changeMicroseconds: cpuMicroseconds / changes,
    pauseMs,
    plainPauseMs,
    readMs: median(readTimes),
    longestReadMs: Math.max(...readTimes),
    readCpuMs: readCpuMicroseconds / 1000 / READS,
    plainMs: median(plainTimes),
    scanMs,
  };
  process.stdout.write(`${JSON.stringify(figures)}\n`);
} finally {
  rmSync(folder, { recursive: true });
}
