import type { Clock } from '@headgate/domain-contracts';

/** Measures a task and its steps in the process that began it, whatever happens to the time of the system. */
export class TaskTimer {
  private readonly begin: number;
  private stepBegin: number;
  private isDelayed = false;
  private isStepDelayed = false;

  constructor(private readonly clock: Clock) {
    this.begin = this.stepBegin = clock.monotonic();
  }

  /** The task waits for something that does not belong to it. Neither its time nor that of its step count. */
  delay(): void {
    this.isDelayed = this.isStepDelayed = true;
  }

  /** Begins another step. @returns how many seconds the one before it took, if its time counts */
  next(): number | undefined {
    const seconds = this.isStepDelayed ? undefined : this.since(this.stepBegin);
    this.stepBegin = this.clock.monotonic();
    this.isStepDelayed = false;
    return seconds;
  }

  /** How many seconds the task has taken, if its time counts. */
  total(): number | undefined {
    return this.isDelayed ? undefined : this.since(this.begin);
  }

  private since(begin: number): number {
    return Math.round(this.clock.monotonic() - begin) / 1000;
  }
}
