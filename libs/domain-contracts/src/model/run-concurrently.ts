/**
 * Works on all items, in their order, with at most `limit` at a time.
 * @returns when every item is done
 * @throws the first error of the work; items that had begun are finished in the background, others are not begun
 */
export async function runConcurrently<T>(
  items: Iterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = queue.next(); next.done !== true; next = queue.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: limit }, worker));
}
