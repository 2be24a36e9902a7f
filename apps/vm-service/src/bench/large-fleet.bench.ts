import 'reflect-metadata';
import { randomInt } from 'node:crypto';
import { Fleet } from '@headgate/fleet';
import { buildVm, MemoryBackend, withStatus } from '@headgate/testing';
import { SystemClock } from '@headgate/clock';
import { presentEntry } from '../fleet/present.js';

// The read model with many instances, for tools/bench: `large-fleet.bench COUNT`, with --expose-gc. Prints one line of
// JSON: `listMs`, the median time to serialize the list after one change, and `heapBytes`, the memory per instance with
// that list.

const count = Number(process.argv[2]);
const CHANGES = 101;

const memory = (): number => {
  gc!();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

const buildOne = (index: number, turn: number) => {
  const name = `vm-${String(index).padStart(6, '0')}`;
  return withStatus(
    buildVm({
      ref: { namespace: `team-${index % 40}`, name },
      uid: `${index}`,
      tags: ['prod', `rack-${index % 12}`, `turn-${turn}`],
    }),
    index % 4 === 0 ? 'Stopped' : 'Running',
  );
};

const backend = new MemoryBackend();
const before = memory();
for (let index = 0; index < count; index++) backend.engine.put(buildOne(index, 0));
const fleet = new Fleet({ clock: new SystemClock(), present: presentEntry });
fleet.attach(backend);
await fleet.whenSynced();
fleet.list('vm');
const heapBytes = (memory() - before) / count;

const times: number[] = [];
for (let turn = 1; turn <= CHANGES; turn++) {
  backend.engine.put(buildOne(randomInt(count), turn));
  const beganMs = performance.now();
  fleet.list('vm');
  times.push(performance.now() - beganMs);
}
times.sort((a, b) => a - b);
await fleet.close();
process.stdout.write(`${JSON.stringify({ listMs: times[Math.floor(CHANGES / 2)], heapBytes })}\n`);
