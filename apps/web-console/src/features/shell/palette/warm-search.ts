import type { VmView } from '@headgate/api-contracts';
import { findInstances } from './find-instances.js';
import { queryOptions } from './query-options.js';

/** Entries per task, which take a few milliseconds. */
const CHUNK = 1_000;
/** Reads everything that a search reads, and is in no text. */
const TEXT = '\u0000';

/**
 * Reads all entries once, in short tasks, because the first search of an entry is slower than all others.
 * @returns a function that stops it
 */
export function warmSearch(entries: readonly VmView[]): () => void {
  let from = 0;
  let timer: ReturnType<typeof setTimeout>;
  const step = (): void => {
    const chunk = entries.slice(from, from + CHUNK);
    findInstances(chunk, TEXT, 0);
    queryOptions(TEXT, { vms: chunk, containers: [], navigate: () => undefined });
    from += CHUNK;
    if (from < entries.length) timer = setTimeout(step);
  };
  timer = setTimeout(step);
  return () => clearTimeout(timer);
}
