import { KubeApiError } from '../api/kube-api-error.js';
import { errorOfAnswer, type FailedRequest } from '../api/kube-errors.js';
import type { KubeObject } from '../api/kube-object.js';

/** One line of a watch. */
export type WatchEvent<T extends KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'; readonly object: T }
  | { readonly type: 'ERROR'; readonly object: unknown };

export const parseWatchEvent = <T extends KubeObject>(line: string): WatchEvent<T> => JSON.parse(line) as WatchEvent<T>;

/** The error that an ERROR line carries. */
export function errorOfEvent(request: FailedRequest, status: unknown): KubeApiError {
  const code = (status as { code?: unknown } | null)?.code;
  return errorOfAnswer(request, typeof code === 'number' ? code : 500, JSON.stringify(status));
}

/** The version that was to be resumed from, or listed at, is not there any more (or, after a restore, not yet): list again. */
export const isExpired = (error: unknown): boolean =>
  KubeApiError.has(error, 410) ||
  (KubeApiError.has(error, 504) && error.answer.text.includes('Too large resource version'));
