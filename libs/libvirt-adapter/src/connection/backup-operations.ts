import { formatXml, type XmlElement } from '../xml/xml.js';

/** The content that several disks have at one moment. */
export interface DiskBackup {
  readonly disks: readonly BackedUpDisk[];
  /** The targets of all other disks. */
  readonly others: readonly string[];
  /** Only the changes since this checkpoint, of the disks that have bitmaps. */
  readonly since?: string;
  /** Creates a checkpoint of the same moment. */
  readonly checkpoint?: NewCheckpoint;
}

export interface BackedUpDisk {
  /** Such as `vda`. */
  readonly target: string;
  /**
   * Path of an empty qcow2 file with the size of the disk. It receives the copy or, of a backup that is served, the
   * content that the guest replaces meanwhile.
   */
  readonly file: string;
  /** Whether its image can have bitmaps. */
  readonly hasBitmaps: boolean;
}

export interface NewCheckpoint {
  readonly name: string;
  readonly description: string;
}

/** A backup that is read from QEMU. Each disk is an export with the name of its target. */
export interface ServedBackup extends DiskBackup {
  /** Path of the socket on which QEMU listens. Its folder exists, and belongs to QEMU. */
  readonly socket: string;
}

/** The name under which QEMU serves the bitmap of the changed parts. */
export const servedBitmap = (target: string): string => `backup-${target}`;

export type BackupOutcome = { readonly isComplete: true } | { readonly isComplete: false; readonly reason: string };

/**
 * Copies of the disks of running domains, and the checkpoints since which libvirt records their changes. All throw
 * INSTANCE_NOT_FOUND for a domain that does not exist.
 */
export abstract class BackupOperations {
  /**
   * Starts to copy the content that disks have now into files.
   * @throws DomainError WRONG_STATE, BUSY, CHECKPOINT_INCONSISTENT
   */
  abstract beginBackup(uuid: string, backup: DiskBackup): Promise<void>;
  /**
   * Starts to serve the content that disks have now, until the backup is aborted.
   * @throws DomainError WRONG_STATE, BUSY, CHECKPOINT_NOT_FOUND, CHECKPOINT_INCONSISTENT
   */
  abstract serveBackup(uuid: string, backup: ServedBackup): Promise<void>;
  /** @returns the XML of the backup that is running, if there is one */
  abstract runningBackup(uuid: string): Promise<string | undefined>;
  /** How the last backup of a running domain ended. It can be read once. */
  abstract backupOutcome(uuid: string): Promise<BackupOutcome>;
  /** The file stays. @throws DomainError WRONG_STATE if there is nothing to abort */
  abstract abortBackup(uuid: string): Promise<void>;

  /** Names, each after that of the checkpoint before it. */
  abstract checkpoints(uuid: string): Promise<string[]>;
  /** @param options.withSize only of a running domain @throws DomainError CHECKPOINT_NOT_FOUND */
  abstract checkpointXml(uuid: string, name: string, options: { readonly withSize: boolean }): Promise<string>;
  /**
   * @param options.keepBitmap removes only libvirt's own record, which is all that it can remove of a domain that is
   *   not running
   * @throws DomainError CHECKPOINT_NOT_FOUND
   */
  abstract deleteCheckpoint(uuid: string, name: string, options: { readonly keepBitmap: boolean }): Promise<void>;
}

/** https://libvirt.org/formatbackup.html */
export const backupXml = (backup: DiskBackup): string =>
  formatXml({
    domainbackup: {
      '@mode': 'push',
      disks: disksOf(backup, ({ target, file, hasBitmaps }) => ({
        '@name': target,
        '@backup': 'yes',
        '@type': 'file',
        ...modeOf(backup, hasBitmaps),
        driver: { '@type': 'qcow2' },
        target: { '@file': file },
      })),
    },
  });

/** https://libvirt.org/formatbackup.html */
export const servedBackupXml = (backup: ServedBackup): string =>
  formatXml({
    domainbackup: {
      '@mode': 'pull',
      server: { '@transport': 'unix', '@socket': backup.socket },
      disks: disksOf(backup, ({ target, file, hasBitmaps }) => ({
        '@name': target,
        '@backup': 'yes',
        '@type': 'file',
        ...modeOf(backup, hasBitmaps),
        ...(backup.since !== undefined && hasBitmaps && { '@exportbitmap': servedBitmap(target) }),
        '@exportname': target,
        driver: { '@type': 'qcow2' },
        scratch: { '@file': file },
      })),
    },
  });

const modeOf = ({ since }: DiskBackup, hasBitmaps: boolean): XmlElement =>
  since !== undefined && hasBitmaps
    ? { '@backupmode': 'incremental', '@incremental': since }
    : { '@backupmode': 'full' };

const disksOf = ({ disks, others }: DiskBackup, format: (disk: BackedUpDisk) => XmlElement): XmlElement => ({
  disk: [...disks.map(format), ...others.map((name) => ({ '@name': name, '@backup': 'no' }))],
});

/** https://libvirt.org/formatcheckpoint.html */
export const checkpointXml = ({ disks, others, checkpoint }: DiskBackup): string | undefined =>
  checkpoint &&
  formatXml({
    domaincheckpoint: {
      name: checkpoint.name,
      description: checkpoint.description,
      disks: {
        disk: [
          ...disks.map(({ target, hasBitmaps }) => ({
            '@name': target,
            '@checkpoint': hasBitmaps ? 'bitmap' : 'no',
          })),
          ...others.map((name) => ({ '@name': name, '@checkpoint': 'no' })),
        ],
      },
    },
  });
