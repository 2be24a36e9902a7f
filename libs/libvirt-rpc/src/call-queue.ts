/**
 * libvirtd reads no more from a connection while five of its calls are running (`max_client_requests`), not even pings.
 * One place stays free for them.
 */
const MAX_RUNNING = 4;
/** Calls that may take seconds leave the other places to short ones. */
const MAX_SLOW_RUNNING = 2;

interface Waiting {
  readonly isSlow: boolean;
  readonly start: () => void;
}

/** Limits the calls that run at the same time on one connection; the others wait in order. */
export class CallQueue {
  private running = 0;
  private slowRunning = 0;
  private waiting: Waiting[] = [];

  /**
   * @param start called when the call may be sent; `finished` has to be called when it has been answered
   * @returns removes the call if it is still waiting, and reports whether it was
   */
  add(isSlow: boolean, start: (finished: () => void) => void): () => boolean {
    const entry: Waiting = {
      isSlow,
      start: () => {
        this.running++;
        if (isSlow) this.slowRunning++;
        let isFinished = false;
        start(() => {
          if (isFinished) return;
          isFinished = true;
          this.running--;
          if (isSlow) this.slowRunning--;
          this.startNext();
        });
      },
    };
    this.waiting.push(entry);
    this.startNext();
    return () => {
      const index = this.waiting.indexOf(entry);
      if (index !== -1) this.waiting.splice(index, 1);
      return index !== -1;
    };
  }

  clear(): void {
    this.waiting = [];
  }

  private startNext(): void {
    while (this.running < MAX_RUNNING) {
      const index = this.waiting.findIndex(({ isSlow }) => !isSlow || this.slowRunning < MAX_SLOW_RUNNING);
      if (index === -1) return;
      const [next] = this.waiting.splice(index, 1);
      next?.start();
    }
  }
}
