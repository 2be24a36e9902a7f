/** The time, as a port: no library reads the system clock or sets timers in any other way. */
export abstract class Clock {
  /** Milliseconds since the epoch. */
  abstract now(): number;

  /** Milliseconds since an arbitrary moment. Differences are durations, also when the time of the system is changed. */
  monotonic(): number {
    return this.now();
  }

  /** Calls back once after `ms` milliseconds, unless the returned function is called before. */
  abstract after(ms: number, callback: () => void): () => void;

  /** Calls back every `ms` milliseconds until the returned function is called. */
  every(ms: number, callback: () => void): () => void {
    let cancel = (): void => undefined;
    const arm = (): void => {
      cancel = this.after(ms, () => {
        arm();
        callback();
      });
    };
    arm();
    return () => cancel();
  }

  /** Resolves after `ms` milliseconds, or when the signal is aborted. */
  delay(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const finish = (): void => {
        cancel();
        signal?.removeEventListener('abort', finish);
        resolve();
      };
      const cancel = this.after(ms, finish);
      signal?.addEventListener('abort', finish);
    });
  }

  /** The time as ISO 8601 in UTC. */
  iso(): string {
    return new Date(this.now()).toISOString();
  }
}

/** The system clock. Its timers never keep the process alive. */
export class SystemClock extends Clock {
  override now(): number {
    return Date.now();
  }

  override monotonic(): number {
    return performance.now();
  }

  override after(ms: number, callback: () => void): () => void {
    const timer = setTimeout(callback, ms);
    timer.unref();
    return () => clearTimeout(timer);
  }
}
