/** Runs the tasks of one key one after another, in the order of their arrival, and those of other keys meanwhile. */
export class Turns {
  private readonly last = new Map<string, Promise<unknown>>();

  /** How many keys have a task. */
  get size(): number {
    return this.last.size;
  }

  async run<Result>(key: string, task: () => Promise<Result>): Promise<Result> {
    const turn = (this.last.get(key) ?? Promise.resolve()).then(task);
    const end = turn.catch(() => undefined);
    this.last.set(key, end);
    try {
      return await turn;
    } finally {
      if (this.last.get(key) === end) this.last.delete(key);
    }
  }
}
