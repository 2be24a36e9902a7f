import { KubeApiError } from '../api/kube-api-error.js';
import { errorOfResponse, type FailedRequest } from '../api/kube-errors.js';
import type { KubeObject } from '../api/kube-object.js';

/** One line of a watch. */
export type WatchEvent<T extends KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'; readonly object: T }
  | { readonly type: 'ERROR'; readonly object: unknown };

export const parseWatchEvent = <T extends KubeObject>(line: string): WatchEvent<T> => JSON.parse(line) as WatchEvent<T>;

/** The error of an ERROR event. */
export function errorOfEvent(request: FailedRequest, status: unknown): KubeApiError {
  const code = (status as { code?: unknown } | null)?.code;
  return errorOfResponse(request, typeof code === 'number' ? code : 500, JSON.stringify(status));
}

/** The server no longer has the resource version (or, after etcd was restored, does not have it yet): list again. */
export const isExpired = (error: unknown): boolean =>
  KubeApiError.has(error, 410) ||
  (KubeApiError.has(error, 504) && error.response.text.includes('Too large resource version'));
