import { messageOf } from '../api/api-error.js';

export interface MemberResult<E> {
  readonly entry: E;
  /** Absent when it worked. */
  readonly error?: string;
}

/** The service answers each in milliseconds; more at once would only queue in the browser. */
const AT_ONCE = 6;

interface RunOptions {
  readonly onProgress?: (finished: number) => void;
  /** Aborted: what was not begun yet is left alone, and has no result. */
  readonly signal?: AbortSignal;
}

/** One member's failure is that member's answer: it never stops the others. Results come in the order of the members. */
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
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, members.length) }, worker));
  return members.flatMap((_member, index) => results.get(index) ?? []);
}
