import type { MeasuredSeconds } from '@headgate/domain-contracts';
import { RecentMap } from './recent-map.js';
import { rangeOf, Samples } from './samples.js';

/** Some tasks name objects in their steps, so that there may be any number of names. */
const MAX_STEPS = 50;

/** How long work of one kind took in one context. */
export class Durations {
  private readonly total = new Samples();
  /** How long the guest did not run. */
  private readonly interruption = new Samples();
  private readonly steps = new RecentMap<Samples>(MAX_STEPS);

  addTotal(seconds: number): void {
    this.total.add(seconds);
  }

  addInterruption(seconds: number): void {
    this.interruption.add(seconds);
  }

  addStep(name: string, seconds: number): void {
    this.steps.of(name, () => new Samples()).add(seconds);
  }

  get ofAll(): Samples {
    return this.total;
  }

  get ofInterruption(): Samples {
    return this.interruption;
  }

  ofStep(name: string): Samples | undefined {
    return this.steps.get(name);
  }
}

/** The range of one context, or of several that are alike. */
export function rangeIn(
  all: readonly Durations[],
  choose: (one: Durations) => Samples | undefined,
): MeasuredSeconds | undefined {
  const [only, ...others] = all.flatMap((one) => choose(one) ?? []);
  if (!only) return undefined;
  return others.length === 0 ? only.range : rangeOf([only, ...others].flatMap(({ values }) => values));
}
