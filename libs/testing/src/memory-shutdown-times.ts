import { MAX_SHUTDOWN_TIMES, ShutdownTimes } from '@headgate/domain-contracts';

/** ShutdownTimes in memory. */
export class MemoryShutdownTimes extends ShutdownTimes {
  private readonly times = new Map<string, number>();

  constructor(private readonly maxTimes = MAX_SHUTDOWN_TIMES) {
    super();
  }

  override record(key: string, milliseconds: number): void {
    this.times.delete(key);
    this.times.set(key, milliseconds);
    for (const oldest of this.times.keys()) {
      if (this.times.size <= this.maxTimes) break;
      this.times.delete(oldest);
    }
  }

  override of(key: string): number | undefined {
    return this.times.get(key);
  }
}
