/** Lets a bounded number of pieces of work run at once; the others wait in their order. */
export class Slots {
  private free: number;
  private readonly waiting: (() => void)[] = [];

  constructor(size: number) {
    this.free = size;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free--;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      return await work();
    } finally {
      // The slot is handed on, so that nobody who comes in between takes it.
      const next = this.waiting.shift();
      if (next) next();
      else this.free++;
    }
  }
}
