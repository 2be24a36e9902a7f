import type { ResourceMapping } from '@headgate/domain-contracts';

/** `cold`: the guest is stopped during the copy. `warm` and `live` are not built yet. */
export const MOVE_MODES = ['cold', 'warm', 'live'] as const;
export type MoveMode = (typeof MOVE_MODES)[number];

export interface MoveRequest {
  /** The VM, as text. */
  readonly ref: string;
  /** The kind of the destination's backend. */
  readonly toBackend: string;
  /** May be absent if only one other context is of that kind. */
  readonly toContext?: string;
  /** The namespace of the source by default, if the destination is of the same kind; otherwise the default of the destination. */
  readonly toNamespace?: string;
  /** The name of the source by default. */
  readonly name?: string;
  readonly mode?: MoveMode;
  /** Whether to delete the source once the copy was verified. */
  readonly deleteSource?: boolean;
  /** Whether the caller expects the disks to be stored in between. They are always streamed. */
  readonly scratch?: boolean;
  readonly mapping?: Partial<ResourceMapping>;
}
