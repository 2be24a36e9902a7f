/**
 * Runs work with the same key one after the other, in the order of the calls. Work with different keys runs
 * concurrently. Work begins immediately when its key is free, and a failure does not stop the work behind it.
 */
export class KeyedQueue {
  /** The end of the last work of each key that has some. */
  private readonly last = new Map<string, Promise<void>>();

  /** @returns the result of the work, or its error */
  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.last.get(key);
    const done = before ? before.then(work) : begin(work);
    const ended = done.then(ignore, ignore);
    this.last.set(key, ended);
    void ended.then(() => {
      if (this.last.get(key) === ended) this.last.delete(key);
    });
    return done;
  }

  /** The keys that have work. */
  get size(): number {
    return this.last.size;
  }
}

/** An error that the work throws synchronously rejects like any other. */
const begin = async <T>(work: () => Promise<T>): Promise<T> => work();

const ignore = (): void => undefined;
