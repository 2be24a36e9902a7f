import type { ResourceMapping } from '@headgate/domain-contracts';
import type { MoveMode } from './plan/move-request.js';

/** The journaled input of a move. Without secrets. */
export interface MoveInput {
  /** A UUID that identifies the copy at the destination. */
  readonly id: string;
  /** Refs, as text. */
  readonly source: string;
  readonly destination: string;
  /** The backend's ID of the source: another VM of the same name is not touched. */
  readonly uid: string;
  /** Absent in the journals of older releases, which had cold moves only. */
  readonly mode?: MoveMode;
  /** The short ID of the guest's operating system, if it is known. */
  readonly os?: string;
  readonly wasRunning: boolean;
  readonly deleteSource: boolean;
  readonly mapping: ResourceMapping;
  /** Whether the variables of the firmware are copied with the disks. */
  readonly copiesFirmwareVariables?: boolean;
}
