import { UpstreamTimeout } from '@headgate/http-relay';

/** Runs a limited number of tasks at a time. The others wait, first come, first served. */
export class ConcurrencyLimit {
  private free: number;
  private readonly waiting = new Set<() => void>();

  constructor(max: number) {
    this.free = max;
  }

  /** @throws UpstreamTimeout when the task could not start within `timeoutMs` */
  async run<Result>(timeoutMs: number, task: () => Promise<Result>): Promise<Result> {
    if (this.free > 0) this.free--;
    else await this.acquire(timeoutMs);
    try {
      return await task();
    } finally {
      this.release();
    }
  }

  private acquire(timeoutMs: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const start = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(() => {
      this.waiting.delete(start);
      reject(new UpstreamTimeout());
    }, timeoutMs);
    this.waiting.add(start);
    return promise;
  }

  private release(): void {
    for (const start of this.waiting) {
      this.waiting.delete(start);
      return start();
    }
    this.free++;
  }
}
