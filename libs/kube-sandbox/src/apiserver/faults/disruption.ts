/** The moment at which a connection is reset. */
export type ResetMoment =
  /** Before the request has any effect. */
  | 'before'
  /** After its effect, instead of the answer. */
  | 'unanswered'
  /** After its effect, when half of the answer's body has been sent. An answer without a body is not sent. */
  | 'halfway';

/** What the injected faults do to one request, besides refusing it. */
export interface Disruption {
  /** Real milliseconds before the request is processed. */
  delayMs: number;
  /** The call of a slow webhook. @throws ApiError when it takes too long */
  webhooks: (() => Promise<void>)[];
  reset?: ResetMoment;
  /** Whether the revision at which a watch begins counts as compacted. */
  isExpired?: boolean;
  /** Counts an event of a watch. @returns whether the connection is reset in the middle of it */
  resetsEvent?: () => boolean;
}
