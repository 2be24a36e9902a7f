/** Limits the number of concurrent tasks; the others wait in order. */
export class Slots {
  private free: number;
  private readonly waiting: (() => void)[] = [];

  constructor(size: number) {
    this.free = size;
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free--;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      return await task();
    } finally {
      // The slot is handed over directly, so that a new caller can't take it in between.
      const next = this.waiting.shift();
      if (next) next();
      else this.free++;
    }
  }
}

/** Runs tasks with the same key one after another; tasks with different keys run concurrently. */
export class KeyedLock {
  private readonly locks = new Map<string, { slots: Slots; users: number }>();

  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const lock = this.locks.get(key) ?? { slots: new Slots(1), users: 0 };
    this.locks.set(key, lock);
    lock.users++;
    try {
      return await lock.slots.run(task);
    } finally {
      if (--lock.users === 0) this.locks.delete(key);
    }
  }
}
