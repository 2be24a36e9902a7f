/**
 * Pauses that double up to a limit. Each is shortened by a random part, so that many clients do not return at the same
 * time.
 */
export class Backoff {
  private failures = 0;

  constructor(
    private readonly firstMs: number,
    private readonly limitMs: number,
    private readonly random: () => number = Math.random,
  ) {}

  /** @returns milliseconds to wait before the next attempt */
  next(): number {
    const fullMs = Math.min(this.limitMs, this.firstMs * 2 ** Math.min(this.failures++, 30));
    return fullMs * (0.5 + this.random() / 2);
  }

  reset(): void {
    this.failures = 0;
  }
}
