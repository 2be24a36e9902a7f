import { KeyedQueue } from '@headgate/domain-contracts';

/** Limits the number of concurrent tasks; the others wait in order. */
export class Slots {
  private free: number;
  private readonly waiting: (() => void)[] = [];

  constructor(size: number) {
    this.free = size;
  }

  /** @param signal ends the wait for a slot; the task itself has to observe the signal as well */
  async run<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.free > 0) this.free--;
    else await this.wait(signal);
    try {
      return await task();
    } finally {
      // The slot is handed over directly, so that a new caller can't take it in between.
      const next = this.waiting.shift();
      if (next) next();
      else this.free++;
    }
  }

  private wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const start = (): void => {
        signal?.removeEventListener('abort', cancel);
        resolve();
      };
      const cancel = (): void => {
        this.waiting.splice(this.waiting.indexOf(start), 1);
        reject(signal?.reason as Error);
      };
      if (signal?.aborted) return reject(signal.reason as Error);
      signal?.addEventListener('abort', cancel, { once: true });
      this.waiting.push(start);
    });
  }
}

/** Runs tasks with the same key one after another, as long as their lock is held. */
export class KeyedLock extends KeyedQueue {
  /**
   * Called before a write that would undo the work of another holder.
   * @throws DomainError BUSY if a lock of this key was lost
   */
  expectHeld(_key: string): void {
    // A lock within one process can't be lost.
  }
}
