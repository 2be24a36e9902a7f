import { Slots } from './slots.js';

/** Pieces of work under one key run one after another; other keys are not held up. */
export class KeyedLock {
  private readonly locks = new Map<string, { slots: Slots; users: number }>();

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const lock = this.locks.get(key) ?? { slots: new Slots(1), users: 0 };
    this.locks.set(key, lock);
    lock.users++;
    try {
      return await lock.slots.run(work);
    } finally {
      if (--lock.users === 0) this.locks.delete(key);
    }
  }
}
