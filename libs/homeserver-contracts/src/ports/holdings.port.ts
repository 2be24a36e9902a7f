import type { JsonObject } from '@headgate/matrix-protocol';
import type { MatrixRequest } from '../wire/matrix-request.js';
import type { Caller } from './identity.port.js';

type Maybe<T> = T | Promise<T>;

/**
 * The authoritative counts of what callers hold: from the tables of the embedded homeserver, or from the upstream,
 * queried with the caller's token. A count is requested when it is unknown, too old, or about to refuse a write.
 */
export abstract class Holdings {
  abstract filters(caller: Caller, request: MatrixRequest): Maybe<number>;
  /** Whether the caller already holds this filter, so that sending it again creates no new one. */
  abstract hasFilter(caller: Caller, filter: JsonObject): Maybe<boolean>;

  /** The number of types over all scopes. */
  abstract accountData(caller: Caller, request: MatrixRequest): Maybe<number>;
  /** @param scope a room ID, or empty for global account data */
  abstract hasAccountData(caller: Caller, scope: string, type: string, request: MatrixRequest): Maybe<boolean>;

  /** The number of keys of the caller's device, over all algorithms. */
  abstract oneTimeKeys(caller: Caller, request: MatrixRequest): Maybe<number>;

  abstract pushers(caller: Caller, request: MatrixRequest): Maybe<number>;
  abstract hasPusher(caller: Caller, appId: string, pushkey: string, request: MatrixRequest): Maybe<boolean>;

  /** The number of the caller's pending events in the room. */
  abstract delayedEvents(caller: Caller, roomId: string, request: MatrixRequest): Maybe<number>;
  /** Whether the request repeats a completed one: it gets the same response, and nothing is scheduled. */
  abstract wasScheduled(caller: Caller, request: MatrixRequest): Maybe<boolean>;
}
