import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { SPACE_WATERMARK_BYTES } from '@headgate/downloads';
import {
  DomainError,
  type BackupConsistency,
  type BackupReading,
  type BackupReadRequest,
} from '@headgate/domain-contracts';
import { busy, COPY_SUFFIX, type BackupJob, type BackupJobDeps } from '../backups/backup-job.js';
import type { GuestFreezer } from '../backups/guest-freezer.js';
import { checkpointOf, type RecordedCheckpoints } from '../backups/recorded-checkpoints.js';
import type { DiskBackup } from '../connection/backup-operations.js';
import type { BackupRecord } from '../domain-xml/backup-metadata.js';
import type { DomainDescription } from '../domain-xml/domain-description.js';
import type { DomainId } from '../domains/domain-finder.js';
import type { EditableDomain } from '../domains/domain-editor.js';
import type { CopyableDisk } from '../moves/copyable-disks.js';
import type { OpenDiskDeps } from '../moves/libvirt-disk-source.js';
import type { QemuImg } from '../storage/qemu-img.js';
import { CopiedDisks } from './copied-disks.js';
import { copySpace } from './copy-space.js';
import { hasIoThread } from './io-threads.js';
import type { MomentDisks } from './moment-disks.js';
import { newSeriesCheckpoint } from './series.js';
import { ServedDisks } from './served-disks.js';
import { socketFolder } from './socket-folder.js';

export interface RunningBackupDeps extends BackupJobDeps, OpenDiskDeps {
  readonly job: BackupJob;
  readonly freezer: GuestFreezer;
  readonly images: Pick<QemuImg, 'copyBytes'>;
  readonly checkpoints: Pick<RecordedCheckpoints, 'changedBytes'>;
  readonly service: () => string;
}

interface RunningRequest extends BackupReadRequest {
  readonly domain: EditableDomain;
  readonly disks: readonly CopyableDisk[];
}

/** One backup of libvirt, while it is being opened and read. */
interface Moment {
  readonly record: BackupRecord;
  readonly backup: DiskBackup;
  readonly sizes: ReadonlyMap<string, number>;
  readonly isCopied: boolean;
  readonly content: MomentDisks;
}

interface Begun {
  readonly consistency: BackupConsistency;
  readonly warnings: readonly string[];
  readonly isIncrement: boolean;
  readonly wholeReason?: string;
}

interface Usable {
  readonly since?: string;
  readonly wholeReason?: string;
}

/** Whether the disks of a running domain are copied into the pool before they are read. */
export const isCopiedFirst = (description: DomainDescription, disks: readonly CopyableDisk[]): boolean =>
  disks.some(({ target }) => hasIoThread(description, target));

/**
 * Reads all disks of a running domain, as they were at one moment: from QEMU, or as copies if one of them has an I/O
 * thread. The metadata of the domain names a volume of the backup, and the new checkpoint, before they are created, so
 * that the next start of a service that was killed removes all of it, and thaws the guest.
 */
export class RunningBackup {
  constructor(private readonly deps: RunningBackupDeps) {}

  /** Callers hold the disks of the domain. */
  async open(id: DomainId, request: RunningRequest, signal: AbortSignal): Promise<BackupReading> {
    const moment = await this.prepare(id, request);
    const { record, backup, content } = moment;
    const close = async (keep: boolean): Promise<void> => {
      const { freezes: _thawed, ...settled } = record;
      const volumes = backup.disks.map(({ file }) => nameOf(file));
      try {
        // QEMU 7.2 crashes if a reader leaves a disk with an I/O thread, also one that was given it meanwhile, but not
        // if its own server ends before.
        await this.deps.job.settle(id.uuid, settled, { isComplete: keep, volumes });
      } finally {
        await content.close();
      }
    };
    try {
      const begun = await this.deps.lock.run(id.uuid, () => this.begin(id, request, { moment, signal }));
      const { consistency, warnings, wholeReason, isIncrement } = begun;
      const disks = await content.open(backup, { isIncrement, signal });
      const { checkpoint } = record;
      return {
        disks,
        consistency,
        warnings,
        ...(wholeReason !== undefined && { wholeReason }),
        ...(checkpoint !== undefined && { checkpoint }),
        close: ({ keep }) => close(keep),
      };
    } catch (error) {
      await close(false);
      throw error;
    }
  }

  /** Changes nothing but the folder of the socket, and creates the pool if the service has created no VM yet. */
  private async prepare(id: DomainId, request: RunningRequest): Promise<Moment> {
    const { connection, pool, clock, service } = this.deps;
    const { domain, disks, series, report } = request;
    const { description } = domain;
    const [reading] = await connection.domains.read([id]);
    const sizes = new Map<string, number>();
    for (const { target } of disks) {
      const bytes = reading?.diskBytes.get(target);
      if (bytes === undefined)
        throw new DomainError('BACKEND_FAILED', `The size of the disk ${target} of ${id.name} is not known.`);
      sizes.set(target, bytes);
    }
    const [first] = disks;
    if (!first) throw new DomainError('NOT_SUPPORTED', `${id.name} has no disk.`);
    const random = randomBytes(4).toString('hex');
    const volumeOf = (target: string): string => `headgate-${id.uuid.slice(0, 8)}-${random}-${target}${COPY_SUFFIX}`;
    await pool.ensure();
    const poolPath = await pool.path();
    const backedUp = new Set(disks.map(({ target }) => target));
    const checkpoint = disks.some(hasBitmaps) ? newSeriesCheckpoint(series) : undefined;
    const isCopied = isCopiedFirst(description, disks);
    const socket = `headgate-${random}.sock`;
    return {
      record: {
        service: service(),
        startedAt: clock.iso(),
        volume: volumeOf(first.target),
        ...(checkpoint !== undefined && { checkpoint }),
        ...(description.agent === 'connected' && { freezes: true }),
      },
      backup: {
        disks: disks.map((disk) => ({
          target: disk.target,
          file: join(poolPath, volumeOf(disk.target)),
          hasBitmaps: hasBitmaps(disk),
        })),
        others: description.disks.map(({ target }) => target).filter((target) => !backedUp.has(target)),
        ...(checkpoint !== undefined && { checkpoint: checkpointOf(checkpoint) }),
      },
      sizes,
      isCopied,
      content: isCopied
        ? new CopiedDisks(id, this.deps, report)
        : new ServedDisks(id, connection, {
            folder: await socketFolder(description, { uri: connection.uri, socket, diskPath: first.path }),
            socket,
          }),
    };
  }

  /** Callers hold the domain's lock. */
  private async begin(
    id: DomainId,
    request: RunningRequest,
    { moment, signal }: { readonly moment: Moment; readonly signal: AbortSignal },
  ): Promise<Begun> {
    const { editor, pool, freezer } = this.deps;
    const { record, backup, sizes } = moment;
    const usable = await this.usable(id, request, moment);
    await editor.updateMetadata(id.uuid, (metadata) => {
      // Another service may have begun one.
      if (metadata.backup) throw busy(metadata.backup);
      return {
        ...metadata,
        backup: record,
        volumes: [
          ...metadata.volumes,
          ...backup.disks.map(({ file }) => ({ pool: pool.name, name: nameOf(file), role: 'backup' as const })),
        ],
      };
    });
    for (const { target, file } of backup.disks) await pool.createBlank(nameOf(file), sizes.get(target) ?? 0);
    signal.throwIfAborted();
    const agent = request.domain.description.agent;
    if (!record.freezes) {
      const begun = await this.start(id, { moment, request }, usable);
      const reason = agent === 'none' ? 'The VM has no guest agent.' : 'The guest agent is not connected.';
      return { ...begun, consistency: 'crash', warnings: [crashWarning(reason)] };
    }
    try {
      const frozen = await freezer.freeze(id);
      // The guest may have been waiting for long.
      signal.throwIfAborted();
      // Nothing but the beginning of the backup happens while the guest can't write.
      const begun = await this.start(id, { moment, request }, usable);
      return frozen === true
        ? { ...begun, consistency: 'frozen', warnings: [] }
        : { ...begun, consistency: 'crash', warnings: [crashWarning(frozen)] };
    } finally {
      await freezer.thaw(id);
    }
  }

  private async start(
    id: DomainId,
    { moment: { backup, content, isCopied }, request }: { readonly moment: Moment; readonly request: RunningRequest },
    { since, wholeReason }: Usable,
  ): Promise<Pick<Begun, 'isIncrement' | 'wholeReason'>> {
    if (since === undefined) {
      await content.begin(backup);
      return { isIncrement: false, ...(wholeReason !== undefined && { wholeReason }) };
    }
    try {
      await content.begin({ ...backup, since });
      return { isIncrement: true };
    } catch (error) {
      if (!DomainError.is(error, 'CHECKPOINT_INCONSISTENT', 'CHECKPOINT_NOT_FOUND')) throw error;
      // Until now, space was needed for the changes only.
      if (isCopied) await this.expectSpace(id, request, undefined);
      await content.begin(backup);
      return { isIncrement: false, wholeReason: LOST };
    }
  }

  /** @throws DomainError INSUFFICIENT_STORAGE */
  private async usable(id: DomainId, request: RunningRequest, { isCopied }: Moment): Promise<Usable> {
    const { since } = request;
    const isKnown = since !== undefined && (await this.deps.connection.backups.checkpoints(id.uuid)).includes(since);
    const isUsable = isCopied ? await this.expectSpace(id, request, isKnown ? since : undefined) : isKnown;
    if (isUsable && since !== undefined) return { since };
    return since === undefined ? {} : { wholeReason: LOST };
  }

  /** @returns whether only the changes since the checkpoint need to be copied */
  private async expectSpace(
    { uuid }: DomainId,
    { disks }: RunningRequest,
    since: string | undefined,
  ): Promise<boolean> {
    const { bytes, isIncrement } = await copySpace(uuid, disks, since, this.deps);
    await this.deps.pool.checkSpace(bytes, SPACE_WATERMARK_BYTES);
    return isIncrement;
  }
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

const hasBitmaps = ({ format }: CopyableDisk): boolean => format === 'qcow2';

const LOST = 'The record of the changes since the last backup is lost.';

const crashWarning = (reason: string): string =>
  `${reason} The file systems of the backup are as after a power failure.`;
