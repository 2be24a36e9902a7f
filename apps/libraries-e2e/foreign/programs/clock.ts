import { SystemClock, type Clock } from '@headgate/clock';
import { FixedClock } from '@headgate/clock/testing';

/** The number of times that work ran in a minute. */
function countRuns(clock: Clock, everyMs: number): () => number {
  let runs = 0;
  clock.every(everyMs, () => runs++);
  return () => runs;
}

const clock = new FixedClock(0);
const runs = countRuns(clock, 10_000);
clock.advance(60_000);
console.log(JSON.stringify({ runs: runs(), iso: clock.iso(), isSystemTime: new SystemClock().now() > 1e12 }));
