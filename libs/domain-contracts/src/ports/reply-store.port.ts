/** How long the answer to a request with an idempotency key is kept, in milliseconds. */
export const REPLY_LIFETIME_MS = 24 * 60 * 60_000;

/** A request with an idempotency key that one process carries out. Contains neither the key nor the request. */
export interface ReplyClaim {
  /** A hash of the caller, the method, the path and the key, in hexadecimal digits: the identity of the claim. */
  readonly scope: string;
  /** A hash of the caller, in hexadecimal digits. */
  readonly caller: string;
  /**
   * A keyed hash of the query and the body, in hexadecimal digits. It differs for another request under the same key.
   */
  readonly request: string;
  /** The ID of the replica that carries the request out. */
  readonly replica: string;
  /** The run of that process: another one after each start. */
  readonly run: string;
  /** ISO 8601. */
  readonly claimedAt: string;
  readonly expiresAt: string;
}

/** The answer to a claimed request. */
export interface KeptReply {
  /** The HTTP status. */
  readonly status: number;
  /** Headers and body, encrypted, in Base64; undefined for an answer that is too large to be kept. */
  readonly sealed?: string;
}

/** A claim, with its answer if it has one. */
export interface StoredReply extends ReplyClaim {
  readonly reply?: KeptReply;
}

/**
 * Remembers which requests with an idempotency key were begun, and their answers. A claim that has returned is durable,
 * and exactly one of several concurrent claims of a scope succeeds, also between replicas.
 */
export abstract class ReplyStore {
  /**
   * Claims a scope that has no claim, or whose claim has expired at `claimedAt`.
   * @returns undefined when it was claimed; otherwise the earlier claim, as it is stored now
   * @throws DomainError TOO_MANY_KEYS when the caller has as many claims as the store keeps; and the errors of the
   *   store, when nothing was claimed
   */
  abstract claim(claim: ReplyClaim): Promise<StoredReply | undefined>;

  /** Stores the answer of a claim. @throws DomainError CONFLICT when the scope is not claimed by this run any more */
  abstract complete(claim: ReplyClaim, reply: KeptReply): Promise<void>;

  /**
   * Deletes a claim without an answer, so that the request can be sent again. Does nothing if this run has not claimed
   * the scope.
   */
  abstract release(claim: ReplyClaim): Promise<void>;

  /** Deletes the claims that have expired at this time (ISO 8601). */
  abstract deleteExpired(time: string): Promise<void>;
}

/** How many claims of one caller a store keeps, and the message beyond that. */
export const tooManyKeys = (maxPerCaller: number): string =>
  `This caller has used ${maxPerCaller} idempotency keys within 24 hours, and no more are kept. Send the request without Idempotency-Key, or wait until the oldest of them expires.`;
