import { isConnectionCut, KubeApiError } from './kube-api-error.js';

/** The longest pause that a request waits for, when the server names one. */
const MAX_RETRY_AFTER_MS = 10_000;
const MAX_RETRIES = 5;
/** Retries after a transient error without a named pause, and the first pause; it doubles. */
const MAX_TRANSIENT_RETRIES = 3;
const TRANSIENT_PAUSE_MS = 100;

/** Admission runs before anything is stored, so the request had no effect. */
const WEBHOOK_UNREACHABLE = /failed (calling|to call) webhook/;
/** No attempt begins later than this after the first one, even if the server is slow to refuse them. */
const MAX_ELAPSED_MS = 15_000;
/** virt-api changes objects with JSON patches; this is the error of one that met a concurrent change. */
export const LOST_RACE = /^the server rejected our request due to an error in our request/;

export interface FailedAttempt {
  readonly method: string;
  readonly path: string;
  readonly error: unknown;
  /** The number of retries before this one. */
  readonly retries: number;
  /** Since the first attempt began. */
  readonly elapsedMs: number;
  /** Whether only an error that proves that the request had no effect lets it be sent again. */
  readonly isSentOnce?: boolean;
}

/**
 * How long to wait before a failed request is sent again; undefined when it must not be sent again. A request with an
 * unknown outcome is repeated only when it has the same effect twice.
 */
export function retryDelayMs({ elapsedMs, ...attempt }: FailedAttempt): number | undefined {
  const delayMs = delayAfter(attempt);
  return delayMs !== undefined && elapsedMs + delayMs <= MAX_ELAPSED_MS ? delayMs : undefined;
}

function delayAfter({
  method,
  path,
  error,
  retries,
  isSentOnce = false,
}: Omit<FailedAttempt, 'elapsedMs'>): number | undefined {
  if (isConnectionCut(error))
    return !isSentOnce && REPEATABLE_METHODS.includes(method) ? transientDelayMs(retries) : undefined;
  if (!(error instanceof KubeApiError)) return undefined;
  const { status, text, retryAfterMs } = error.response;
  const isWebhook = status === 500 && WEBHOOK_UNREACHABLE.test(text);
  const hadNoEffect = status === 429 || isWebhook;
  if (isSentOnce && !hadNoEffect) return undefined;
  if (retryAfterMs !== undefined && (status === 429 || status >= 500)) {
    return retries < MAX_RETRIES && retryAfterMs <= MAX_RETRY_AFTER_MS ? retryAfterMs : undefined;
  }
  if (method === 'PUT' && status === 500 && LOST_RACE.test(text)) return retries === 0 ? 0 : undefined;
  const isTransient = hadNoEffect || ((status === 500 || status === 502) && isIdempotent(method, path));
  return isTransient ? transientDelayMs(retries) : undefined;
}

const transientDelayMs = (retries: number): number | undefined =>
  retries < MAX_TRANSIENT_RETRIES ? TRANSIENT_PAUSE_MS * 2 ** retries : undefined;

/** Requests that have the same effect twice: reads, merge patches and deletions. */
const REPEATABLE_METHODS = ['GET', 'PATCH', 'DELETE'];

/** virt-api answers 500 when the guest does not respond, which another request would not change. */
const isIdempotent = (method: string, path: string): boolean =>
  REPEATABLE_METHODS.includes(method) && !path.startsWith('/apis/subresources.');
