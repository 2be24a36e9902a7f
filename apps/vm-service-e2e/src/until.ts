/** How long a test waits at most. Real guests boot in software emulation. */
export const WAIT_TIMEOUT_MS = 180_000;

/** Polls until the value matches. @throws Error with the expectation and the last value */
export async function until<T>(
  what: string,
  ask: () => Promise<T>,
  right: (value: T) => boolean,
  patience = WAIT_TIMEOUT_MS,
): Promise<T> {
  const end = Date.now() + patience;
  for (;;) {
    const value = await ask();
    if (right(value)) return value;
    if (Date.now() > end) throw new Error(`waited ${patience} ms until ${what}; saw last: ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
