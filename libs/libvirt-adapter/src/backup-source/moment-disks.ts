import type { BackupDisk } from '@headgate/domain-contracts';
import type { DiskBackup } from '../connection/backup-operations.js';

export interface MomentOptions {
  readonly isIncrement: boolean;
  readonly signal: AbortSignal;
}

/** How the content that the disks of a running domain had at one moment is read. */
export abstract class MomentDisks {
  /** Callers hold the lock of the domain. @throws DomainError CHECKPOINT_NOT_FOUND, CHECKPOINT_INCONSISTENT */
  abstract begin(backup: DiskBackup): Promise<void>;
  /** After `begin`, without the lock. @returns them in the order of the backup */
  abstract open(backup: DiskBackup, options: MomentOptions): Promise<readonly BackupDisk[]>;
  /** After the end of the backup. */
  abstract close(): Promise<void>;
}
