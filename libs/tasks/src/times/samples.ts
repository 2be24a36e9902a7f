import { downToTenth, upToTenth, type MeasuredSeconds } from '@headgate/domain-contracts';

/** How many of the last durations are kept. */
export const MAX_SAMPLES = 20;
/** With fewer, the range is the shortest and the longest; otherwise one in ten is outside at each end. */
const MIN_FOR_PERCENTILES = 5;
/** Longer work was hardly measured correctly. */
const MAX_SECONDS = 7 * 86_400;

/** The last durations of one kind of work, in seconds. */
export class Samples {
  private last: readonly number[] = [];
  private known: MeasuredSeconds | undefined;

  add(seconds: number): void {
    if (!Number.isFinite(seconds) || seconds < 0 || seconds > MAX_SECONDS) return;
    this.last = [...this.last, seconds].slice(-MAX_SAMPLES);
    this.known = undefined;
  }

  get values(): readonly number[] {
    return this.last;
  }

  get range(): MeasuredSeconds | undefined {
    this.known ??= rangeOf(this.last);
    return this.known;
  }
}

/** @returns undefined for no durations */
export function rangeOf(seconds: readonly number[]): MeasuredSeconds | undefined {
  const sorted = seconds.toSorted((a, b) => a - b);
  const measured = sorted.length;
  const outside = measured < MIN_FOR_PERCENTILES ? 0 : Math.floor(measured / 10);
  const low = sorted.at(outside);
  const high = sorted.at(-1 - outside);
  return low === undefined || high === undefined
    ? undefined
    : { low: downToTenth(low), high: upToTenth(high), measured };
}
