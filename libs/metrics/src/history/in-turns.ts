import { setImmediate as nextTurn } from 'node:timers/promises';

/** The work on so many rows takes about a millisecond. */
const ITEMS_PER_TURN = 250;

/** Works on items one after another, and lets requests have their turn in between. */
export async function inTurns<T>(items: Iterable<T>, work: (item: T) => void): Promise<void> {
  let count = 0;
  for (const item of items) {
    work(item);
    if (++count % ITEMS_PER_TURN === 0) await nextTurn();
  }
}
