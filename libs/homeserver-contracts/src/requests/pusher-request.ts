import { type JsonObject, MatrixError, utf8Length } from '@headgate/matrix-protocol';

export interface PusherRequest {
  appId: string;
  pushkey: string;
  /** `kind: null` removes the pusher. */
  deletes: boolean;
  /** Other users' pushers with the same key stay. */
  appends: boolean;
}

/** The relevant members of a request that sets a pusher. @throws MatrixError M_MISSING_PARAM, M_INVALID_PARAM */
export function readPusher(body: JsonObject): PusherRequest {
  const { app_id: appId, pushkey, kind, append = false } = body;
  if (typeof appId !== 'string') throw MatrixError.missingParam('app_id');
  if (typeof pushkey !== 'string') throw MatrixError.missingParam('pushkey');
  if (kind === undefined) throw MatrixError.missingParam('kind');
  if (kind !== null && typeof kind !== 'string') throw MatrixError.invalidParam('kind must be a string or null.');
  if (appId.length > 64) throw MatrixError.invalidParam('app_id has at most 64 characters.');
  if (utf8Length(pushkey) > 512) throw MatrixError.invalidParam('pushkey has at most 512 bytes.');
  return { appId, pushkey, deletes: kind === null, appends: append === true };
}
