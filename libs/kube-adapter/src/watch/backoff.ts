/** Pauses that double up to a limit, each shortened by chance so that many clients do not come back at once. */
export class Backoff {
  private failures = 0;

  /** @param firstMs the first pause; @param limitMs the longest */
  constructor(
    private readonly firstMs: number,
    private readonly limitMs: number,
    private readonly random: () => number = Math.random,
  ) {}

  /** Milliseconds to wait before the next attempt. */
  next(): number {
    const full = Math.min(this.limitMs, this.firstMs * 2 ** Math.min(this.failures++, 30));
    return full * (0.5 + this.random() / 2);
  }

  reset(): void {
    this.failures = 0;
  }
}
