const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** The ranges of a history that are stored, by their names in requests. */
export type StoredRange = '24h' | '7d' | '30d';
export type HistoryRange = '1h' | StoredRange;

/** A resolution: a row per instance for each step, in files that each cover a period. */
export interface Level {
  readonly range: StoredRange;
  readonly rangeMs: number;
  readonly stepMs: number;
  /** A whole number of steps. */
  readonly fileMs: number;
}

/** The finest one is first. Each step is a whole number of finer ones, so coarse rows are computed from fine rows. */
export const LEVELS = [
  { range: '24h', rangeMs: DAY_MS, stepMs: 3 * MINUTE_MS, fileMs: 4 * HOUR_MS },
  { range: '7d', rangeMs: 7 * DAY_MS, stepMs: 15 * MINUTE_MS, fileMs: DAY_MS },
  { range: '30d', rangeMs: 30 * DAY_MS, stepMs: HOUR_MS, fileMs: 3 * DAY_MS },
] as const satisfies readonly Level[];

/** The number of files that a range overlaps at most, and one that is being written. */
export const maxFiles = ({ rangeMs, fileMs }: Level): number => Math.ceil(rangeMs / fileMs) + 1;

/** When the first whole step of a range that ends now begins. */
export const firstStep = ({ rangeMs, stepMs }: Level, now: number): number => floorTo(now - rangeMs, stepMs) + stepMs;

export const floorTo = (time: number, stepMs: number): number => Math.floor(time / stepMs) * stepMs;
