import { writeSync } from 'node:fs';
import { LEVELS } from '../levels.js';
import { UsageHistory } from '../usage-history.js';
import { START, usageOf, VMS } from './usage.js';

// Records the usage of many VMs until it is killed, and prints the number of the steps that are written:
// `writer FOLDER`.

/** Fewer than 24 hours have, if the kill is late. */
const MAX_STEPS = 400;

const [, , folder = ''] = process.argv;
const [{ stepMs }] = LEVELS;
let time = START;
const history = new UsageHistory({ folder, clock: { now: () => time } });
for (let step = 0; step < MAX_STEPS; step++) {
  time = START + step * stepMs;
  for (const vm of VMS) history.record(vm, { ...usageOf(step), time });
  // The step before has ended with that, and a read waits until it is written.
  await history.read(VMS[0]!, '24h');
  writeSync(1, `${step}\n`);
}
