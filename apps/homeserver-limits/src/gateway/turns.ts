import { UpstreamSilent } from './upstream-failure.js';

/** A few at a time; the others wait for their turn, in the order in which they came. */
export class Turns {
  private free: number;
  private readonly waiting = new Set<() => void>();

  constructor(most: number) {
    this.free = most;
  }

  /** @throws UpstreamSilent when no turn came within `ms` */
  async run<Result>(ms: number, work: () => Promise<Result>): Promise<Result> {
    if (this.free > 0) this.free--;
    else await this.turn(ms);
    try {
      return await work();
    } finally {
      this.pass();
    }
  }

  private turn(ms: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const mine = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(() => {
      this.waiting.delete(mine);
      reject(new UpstreamSilent());
    }, ms);
    this.waiting.add(mine);
    return promise;
  }

  private pass(): void {
    for (const next of this.waiting) {
      this.waiting.delete(next);
      return next();
    }
    this.free++;
  }
}
