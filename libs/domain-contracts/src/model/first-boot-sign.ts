import type { Clock } from '@headgate/clock';
import { DomainError } from '../values/domain-error.js';
import type { BootSign } from './boot-sign.js';

export interface BootWait {
  readonly clock: Clock;
  readonly timeLimitMs: number;
  /** Aborted when the guest can no longer boot; its reason says why. */
  readonly signal: AbortSignal;
  /** The expected sign: `its agent or a login prompt`. */
  readonly subject: string;
}

/**
 * The first of several signs that a guest is up.
 * @param signsOf starts to look for them; its signal ends that
 * @throws DomainError BACKEND_TIMEOUT, the reason of the signal, or the first error of a sign
 */
export async function firstBootSign(
  { clock, timeLimitMs, signal, subject }: BootWait,
  signsOf: (signal: AbortSignal) => readonly Promise<BootSign>[],
): Promise<BootSign> {
  const ended = new AbortController();
  let stop = (): void => undefined;
  const refused = new Promise<never>((_resolve, reject) => {
    const late = new DomainError(
      'BACKEND_TIMEOUT',
      `The guest did not boot: ${timeLimitMs / 1000} s for ${subject} are over.`,
    );
    const cancel = clock.after(timeLimitMs, () => reject(late));
    const abort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    stop = () => {
      cancel();
      signal.removeEventListener('abort', abort);
    };
  });
  try {
    return await Promise.race([refused, ...signsOf(AbortSignal.any([signal, ended.signal]))]);
  } finally {
    stop();
    ended.abort();
  }
}
