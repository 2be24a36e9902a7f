import type { Clock } from '@headgate/domain-contracts';
import { isConnectionCut, KubeApiError } from './kube-api-error.js';

const MAX_REPEATS = 3;
const FIRST_PAUSE_MS = 100;

/**
 * Sends a write that must not be carried out twice. When its answer is lost, it is sent again only if it is not done. A
 * refusal of the repetition counts as success if the write is done after all.
 * @returns undefined when it is done and the answer is lost
 */
export async function repeatUnlessDone<T>(
  clock: Clock,
  send: () => Promise<T>,
  isDone: () => Promise<boolean>,
): Promise<T | undefined> {
  for (let repeats = 0; ; repeats++) {
    try {
      return await send();
    } catch (error) {
      const isCut = isConnectionCut(error);
      if (!isCut && !(repeats > 0 && error instanceof KubeApiError)) throw error;
      // The error of the request says more than that of the question.
      if (
        await isDone().catch(() => {
          throw error;
        })
      )
        return undefined;
      if (!isCut || repeats === MAX_REPEATS) throw error;
      await clock.delay(FIRST_PAUSE_MS * 2 ** repeats);
    }
  }
}
