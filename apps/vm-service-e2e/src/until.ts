/** How long anything may take before a test says what it waited for, in milliseconds. Real guests boot in software. */
export const PATIENCE = 180_000;

/** Asks again and again until the answer is right. @throws Error that says what was waited for and what was seen last */
export async function until<T>(
  what: string,
  ask: () => Promise<T>,
  right: (value: T) => boolean,
  patience = PATIENCE,
): Promise<T> {
  const end = Date.now() + patience;
  for (;;) {
    const value = await ask();
    if (right(value)) return value;
    if (Date.now() > end) throw new Error(`waited ${patience} ms until ${what}; saw last: ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
