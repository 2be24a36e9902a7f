import type { MoveRequest } from '../plan/move-request.js';

/** The part of the request that every member of a queue has in common. */
export type SharedMoveRequest = Omit<MoveRequest, 'ref' | 'name'>;

export interface QueueRequest {
  readonly move: SharedMoveRequest;
  /** How many members of queues read from one context, or write to it, at the same time. */
  readonly perHost: number;
  /** Whether to begin although some members are refused. These fail with their reason, and can be retried. */
  readonly skipRefused: boolean;
  /** Whether VMs that are at the destination already are left out, because a query has found them. */
  readonly leavesOutMoved: boolean;
}

export const DEFAULT_MOVES_PER_HOST = 2;
