import { Clock } from '@headgate/domain-contracts';

export const SEED = 11;
/** So many that the beginning of a file is several frames, which a kill can separate. */
export const COUNT = 2000;
export const STEPS_PER_WRITE = 50;

const START = Date.UTC(2026, 0, 1);
const STEP_MS = 100;

/** A clock that moves with each step of a story. */
export class StepClock extends Clock {
  step = 0;

  override now(): number {
    return timeOf(this.step);
  }

  override after(): () => void {
    return () => undefined;
  }
}

export const timeOf = (step: number): number => START + step * STEP_MS;
