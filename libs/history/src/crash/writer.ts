import { writeSync } from 'node:fs';
import { FleetHistory } from '../fleet-history.js';
import { RandomFleet } from '../testing/random-fleet.js';
import { COUNT, SEED, STEPS_PER_WRITE, StepClock, timeOf } from './story.js';

// Records the changes of a fleet until it is killed, and prints the number of each step that is on the disk:
// `writer FOLDER`.

/** If the kill is late. */
const MAX_STEPS = 100_000;

const [, , folder = ''] = process.argv;
const clock = new StepClock();
const recorder: { history?: FleetHistory } = {};
const fleet = new RandomFleet(SEED, COUNT, (event) => recorder.history?.record(event));
const history = new FleetHistory({ folder, clock, fleet, days: 30, maxBytes: 2 ** 30, minFreeBytes: 0 });
await history.start();
recorder.history = history;
for (let step = 1; step < MAX_STEPS; step++) {
  clock.step = step;
  fleet.step();
  if (step % STEPS_PER_WRITE !== 0) continue;
  // A read waits until the changes are written.
  await history.at(timeOf(0));
  writeSync(1, `${step}\n`);
}
