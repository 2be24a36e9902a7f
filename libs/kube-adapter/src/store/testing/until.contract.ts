/** Shorter than the time limit of a test, whose message would not have the condition. */
const PATIENCE_MS = 25_000;

export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * Turns of the event loop until the condition holds; the requests of the replicas are answered meanwhile. Their number
 * is not limited: a busy machine runs many of them before another thread has compressed a few bytes.
 */
export async function until(holds: () => boolean): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!holds() && performance.now() < end) await turn();
  expect(holds()).toBe(true);
}
