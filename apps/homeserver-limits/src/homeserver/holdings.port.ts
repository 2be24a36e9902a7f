import type { JsonObject } from '@headgate/matrix-protocol';
import type { MatrixRequest } from '../wire/matrix-request.js';
import type { Caller } from './identity.port.js';

type Maybe<T> = T | Promise<T>;

/**
 * What callers hold, from whoever really knows: the store's tables, or the upstream asked with the caller's own token.
 * The counts are asked for when they are not known yet, too old, or about to refuse somebody.
 */
export abstract class Holdings {
  abstract filters(caller: Caller, request: MatrixRequest): Maybe<number>;
  /** The same filter is held already, so that sending it again makes no new one. */
  abstract hasFilter(caller: Caller, filter: JsonObject): Maybe<boolean>;

  /** Types over all scopes. */
  abstract accountData(caller: Caller, request: MatrixRequest): Maybe<number>;
  /** @param scope a room id, or empty for the data that belongs to no room */
  abstract hasAccountData(caller: Caller, scope: string, type: string, request: MatrixRequest): Maybe<boolean>;

  /** Keys of the caller's device, over all algorithms. */
  abstract oneTimeKeys(caller: Caller, request: MatrixRequest): Maybe<number>;

  abstract pushers(caller: Caller, request: MatrixRequest): Maybe<number>;
  abstract hasPusher(caller: Caller, appId: string, pushkey: string, request: MatrixRequest): Maybe<boolean>;

  /** Pending ones of the caller in the room. */
  abstract delayedEvents(caller: Caller, roomId: string, request: MatrixRequest): Maybe<number>;
  /** The request is the repetition of one that was answered: the old answer comes again and nothing is scheduled. */
  abstract wasScheduled(caller: Caller, request: MatrixRequest): Maybe<boolean>;
}
