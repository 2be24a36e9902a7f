/** How many times are kept. */
export const MAX_SHUTDOWN_TIMES = 10_000;

/**
 * Remembers how long guests took to shut down, across restarts, so that the downtime of moves can be promised. The keys
 * are those of `ShutdownEstimates`. Only the `MAX_SHUTDOWN_TIMES` that were recorded last are kept.
 */
export abstract class ShutdownTimes {
  /** In place of the earlier time of that key. */
  abstract record(key: string, milliseconds: number): void;
  /** In milliseconds. */
  abstract of(key: string): number | undefined;
}
