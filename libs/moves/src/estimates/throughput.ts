/** The speed of a slow disk, used until a move has been measured. A move reads and compares what it copies. */
const ASSUMED_BYTES_PER_SECOND = 30 * 1024 ** 2;

/** How fast moves are, for estimates: the last one counts. */
export class Throughput {
  private bytesPerSecond = ASSUMED_BYTES_PER_SECOND;

  /** @param milliseconds of the copy and its comparison. A move that was shorter says nothing. */
  record(bytes: number, milliseconds: number): void {
    if (bytes >= 1024 ** 2 && milliseconds >= 100) this.bytesPerSecond = (bytes * 1000) / milliseconds;
  }

  /** For the copy and its comparison; at least 1. */
  secondsFor(bytes: number): number {
    return Math.max(1, Math.ceil(bytes / this.bytesPerSecond));
  }
}
