const POLL_MS = 40;
/** Generous, because machines that run the tests may be slow; nothing waits this long unless it fails. */
export const PATIENCE_MS = 120_000;

/**
 * Asks other processes again and again until the condition holds.
 * @throws Error with the explanation when that takes far too long
 */
export async function until(
  holds: () => boolean | Promise<boolean>,
  explain = () => 'it did not happen',
): Promise<void> {
  const end = Date.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(explain());
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
