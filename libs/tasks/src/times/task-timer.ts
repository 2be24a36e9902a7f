import type { Clock, TaskStep } from '@headgate/domain-contracts';

/** The times of a step that has ended. */
export type StepTimes = Pick<TaskStep, 'tookSeconds' | 'parts'>;

/** More would be the names of many objects, which no plan has. */
const MAX_PARTS = 20;

/** A span that is measured, unless it waits for something that does not belong to it. */
class Span {
  private readonly begin: number;
  isDelayed = false;

  constructor(private readonly clock: Clock) {
    this.begin = clock.monotonic();
  }

  get seconds(): number | undefined {
    return this.isDelayed ? undefined : Math.round(this.clock.monotonic() - this.begin) / 1000;
  }
}

/** Measures a task and its steps in the process that began it, whatever happens to the time of the system. */
export class TaskTimer {
  private readonly task: Span;
  private step: Span;
  private part: { readonly name: string; readonly span: Span } | undefined;
  private parts: NonNullable<TaskStep['parts']> = [];

  constructor(private readonly clock: Clock) {
    this.task = new Span(clock);
    this.step = new Span(clock);
  }

  /** The task waits for something that does not belong to it. Neither its time nor that of its step count. */
  delay(): void {
    this.task.isDelayed = this.step.isDelayed = true;
    if (this.part) this.part.span.isDelayed = true;
  }

  /** Begins a part of the step. */
  beginPart(name: string): void {
    this.endPart();
    this.part = { name, span: new Span(this.clock) };
  }

  /** Begins another step. @returns the times of the one before it */
  next(): StepTimes {
    this.endPart();
    const { parts } = this;
    const tookSeconds = this.step.seconds;
    this.parts = [];
    this.step = new Span(this.clock);
    return { ...(tookSeconds !== undefined && { tookSeconds }), ...(parts.length > 0 && { parts }) };
  }

  /** How many seconds the task has taken, if its time counts. */
  total(): number | undefined {
    return this.task.seconds;
  }

  private endPart(): void {
    const { part, parts } = this;
    this.part = undefined;
    const tookSeconds = part?.span.seconds;
    if (part && tookSeconds !== undefined && parts.length < MAX_PARTS)
      this.parts = [...parts, { name: part.name, tookSeconds }];
  }
}
