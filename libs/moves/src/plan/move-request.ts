import type { ResourceMapping } from '@headgate/domain-contracts';

/**
 * `cold`: the guest is stopped during the copy. `warm`: it runs during most of it. `live`: it is migrated, and never
 * stopped; only between two machines of the same kind.
 */
export const MOVE_MODES = ['cold', 'warm', 'live'] as const;
export type MoveMode = (typeof MOVE_MODES)[number];

/** Losses that refuse a move unless they are accepted. */
export const ACCEPTABLE_LOSSES = ['tpm'] as const;
export type AcceptableLoss = (typeof ACCEPTABLE_LOSSES)[number];

export interface MoveRequest {
  /** The VM, as text. */
  readonly ref: string;
  /** The kind of the destination's backend. */
  readonly toBackend: string;
  /** May be absent if only one other context is of that kind. */
  readonly toContext?: string;
  /**
   * The namespace of the source by default, if the destination is of the same kind; otherwise the default of the
   * destination.
   */
  readonly toNamespace?: string;
  /** The name of the source by default. */
  readonly name?: string;
  readonly mode?: MoveMode;
  /** Whether to delete the source once the copy was verified. */
  readonly deleteSource?: boolean;
  /** Whether the caller expects the disks to be stored in between. They are always streamed. */
  readonly scratch?: boolean;
  /** Critical losses that the caller accepts. */
  readonly acceptLoss?: readonly AcceptableLoss[];
  readonly mapping?: Partial<ResourceMapping>;
}
