import { setImmediate as nextTurn } from 'node:timers/promises';

/** Work of this length is not noticed by requests. */
const TURN_MS = 4;

/** Lets requests have their turn during long work. */
export class Turns {
  private began = performance.now();

  /** Call it after each part of the work, such as a row. */
  pass(): Promise<void> | undefined {
    return performance.now() - this.began < TURN_MS ? undefined : this.next();
  }

  private async next(): Promise<void> {
    await nextTurn();
    this.began = performance.now();
  }
}
