import type { ErrorCode } from '../values/domain-error.js';

/** Refusals that only moves have, besides those of the backends. */
export const MOVE_REFUSAL_CODES = [
  'CONTAINER_NOT_MOVABLE',
  'MODE_NOT_SUPPORTED',
  'SOURCE_NOT_KEPT',
  'SAME_PLACE',
  'UNKNOWN_BACKEND',
  'CONTEXT_REQUIRED',
  'SOURCE_IS_TEMPLATE',
  'SOURCE_HAS_SNAPSHOTS',
  'SOURCE_IS_PROTECTED',
  'SOURCE_CANNOT_BE_READ',
  'DESTINATION_CANNOT_RECEIVE',
  'MOVE_IN_PROGRESS',
  'TPM_STATE_LOST',
] as const;
export type MoveRefusalCode = ErrorCode | (typeof MOVE_REFUSAL_CODES)[number];
