import type { RequestHead } from '../parser/http-head.js';
import type { FailureStatus } from '../pool/upstream-errors.js';
import type { ClientPeer } from './request-head-text.js';

/**
 * A request on its way to the upstream.
 * @typeParam Kind the kinds of requests that the application counts separately
 */
export interface RelayedRequest<Kind extends string = string> {
  readonly head: RequestHead;
  /** The head as the upstream receives it, such as that of `requestHeadText`. */
  readonly text: string;
  /** Whether it is forwarded to its end even when the caller hangs up. */
  readonly outlivesCaller: boolean;
  /** How long the upstream may be silent. */
  readonly timeoutMs: number;
  readonly kind: Kind;
}

/** Decides whether a request is relayed, and how; undefined: Node's server handles it. */
export type PlanRequest<Kind extends string = string> = (
  head: RequestHead,
  peer: ClientPeer,
) => RelayedRequest<Kind> | undefined;

/** Receives how long the upstream took until the head of its response, or how it failed. */
export type AnswerListener<Kind extends string = string> = (
  kind: Kind,
  durationMs: number,
  failure?: FailureStatus,
) => void;

/** A request that got no response. */
export interface FailedRequest {
  readonly target: string;
  /** The `Connection` header of the response to it. */
  readonly connection: 'close' | 'keep-alive';
}

/**
 * Returns the bytes of a whole response, head and body, to a request that the upstream failed. `failureStatusOf`
 * suggests its status.
 */
export type RespondToFailure = (error: Error, request: FailedRequest) => string;
