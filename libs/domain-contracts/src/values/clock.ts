/** The time, as a port: nothing in the libraries reads the wall clock or sleeps by itself. */
export abstract class Clock {
  /** Milliseconds since the epoch. */
  abstract now(): number;

  /** Calls back once after `ms` milliseconds, unless the answer is called before. */
  abstract after(ms: number, callback: () => void): () => void;

  /** Calls back every `ms` milliseconds until the answer is called. */
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

  /** Resolves after `ms` milliseconds. */
  delay(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  /** The time as ISO 8601 in UTC. */
  iso(): string {
    return new Date(this.now()).toISOString();
  }
}

/** The machine's clock. Its timers never keep the process alive. */
export class SystemClock extends Clock {
  override now(): number {
    return Date.now();
  }

  override after(ms: number, callback: () => void): () => void {
    const timer = setTimeout(callback, ms);
    timer.unref();
    return () => clearTimeout(timer);
  }
}
