import { messageOf } from '../api/api-error.js';

export interface MemberResult<E> {
  readonly entry: E;
  /** Missing when the operation succeeded. */
  readonly error?: string;
}

/** The service responds in milliseconds; more requests would only queue in the browser. */
const MAX_CONCURRENT = 6;

interface RunOptions {
  readonly onProgress?: (finished: number) => void;
  /** Aborting it skips the members that were not started yet; they have no result. */
  readonly signal?: AbortSignal;
}

/** Runs an operation for all members. A failure never stops the others. The results are in the order of the members. */
export async function runForAll<E>(
  members: readonly E[],
  run: (entry: E) => Promise<unknown>,
  { onProgress, signal }: RunOptions = {},
): Promise<MemberResult<E>[]> {
  const results = new Map<number, MemberResult<E>>();
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < members.length && !signal?.aborted; index = next++) {
      const entry = members[index] as E;
      const result = await run(entry).then(
        () => ({ entry }),
        (error: unknown) => ({ entry, error: messageOf(error) }),
      );
      results.set(index, result);
      onProgress?.(results.size);
    }
  };
  await Promise.all(Array.from({ length: Math.min(MAX_CONCURRENT, members.length) }, worker));
  return members.flatMap((_member, index) => results.get(index) ?? []);
}
