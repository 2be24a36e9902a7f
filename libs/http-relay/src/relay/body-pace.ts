/** How long a step is, and how much of a body has to arrive in it: 546 bytes/s. */
export const BODY_STEP_MS = 30_000;
export const MIN_STEP_BYTES = 16 * 1024;

/**
 * Notices that the body of a request hardly arrives while it holds a connection to the upstream. Times are in ms of one
 * clock.
 */
export class BodyPace {
  private bytes = 0;
  private endMs = Infinity;

  /** The body begins, or goes on after a pause. */
  begin(nowMs: number): void {
    this.bytes = 0;
    this.endMs = nowMs + BODY_STEP_MS;
  }

  /** The body was paused, and goes on. */
  resume(nowMs: number): void {
    if (this.endMs !== Infinity) this.begin(nowMs);
  }

  add(bytes: number): void {
    this.bytes += bytes;
  }

  /** The body has arrived. */
  end(): void {
    this.endMs = Infinity;
  }

  /** Whether too little has arrived. @param isPaused the upstream is the slow one */
  isTooSlow(nowMs: number, isPaused: boolean): boolean {
    if (nowMs < this.endMs) return false;
    if (this.bytes < MIN_STEP_BYTES && !isPaused) return true;
    this.begin(nowMs);
    return false;
  }
}
