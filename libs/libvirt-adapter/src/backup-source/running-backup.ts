import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import {
  DomainError,
  type BackupConsistency,
  type BackupDisk,
  type BackupReading,
  type BackupReadRequest,
  type DiskExtent,
} from '@headgate/domain-contracts';
import { busy, COPY_SUFFIX, type BackupJob, type BackupJobDeps } from '../backups/backup-job.js';
import type { GuestFreezer } from '../backups/guest-freezer.js';
import { checkpointOf } from '../backups/recorded-checkpoints.js';
import { servedBitmap, type ServedBackup } from '../connection/backup-operations.js';
import type { BackupRecord } from '../domain-xml/backup-metadata.js';
import type { DomainId } from '../domains/domain-finder.js';
import type { EditableDomain } from '../domains/domain-editor.js';
import { NbdConnection } from '../export/nbd-connection.js';
import { NbdDisk } from '../export/nbd-disk.js';
import type { CopyableDisk } from '../moves/copyable-disks.js';
import { socketFolder, type SocketFolder } from './socket-folder.js';
import { newSeriesCheckpoint } from './series.js';
import { withoutZeros } from './zero-parts.js';

export interface RunningBackupDeps extends BackupJobDeps {
  readonly job: BackupJob;
  readonly freezer: GuestFreezer;
  readonly service: () => string;
}

interface RunningRequest extends BackupReadRequest {
  readonly domain: EditableDomain;
  readonly disks: readonly CopyableDisk[];
}

/** One backup of libvirt, while it is being opened and read. */
interface Served extends Pick<ServedBackup, 'disks' | 'others'> {
  readonly record: BackupRecord;
  readonly sizes: ReadonlyMap<string, number>;
  readonly folder: SocketFolder;
  readonly socket: string;
}

interface Begun {
  readonly consistency: BackupConsistency;
  readonly warnings: readonly string[];
  readonly isIncrement: boolean;
  readonly wholeReason?: string;
}

const BYTES_OF_ZEROS = 2;

/**
 * Reads all disks of a running domain from QEMU, as they were at one moment. QEMU keeps the former content of the parts
 * that the guest replaces in scratch volumes. The metadata of the domain names one of them, and the new checkpoint,
 * before they are created, so that the next start of a service that was killed removes all of it, and thaws the guest.
 */
export class RunningBackup {
  constructor(private readonly deps: RunningBackupDeps) {}

  /** Callers hold the disks of the domain. */
  async open(id: DomainId, request: RunningRequest, signal: AbortSignal): Promise<BackupReading> {
    const served = await this.prepare(id, request);
    const { record } = served;
    const opened: NbdDisk[] = [];
    const close = async (keep: boolean): Promise<void> => {
      const volumes = served.disks.map(({ scratch }) => scratch.slice(scratch.lastIndexOf('/') + 1));
      const { freezes: _thawed, ...settled } = record;
      try {
        // QEMU 7.2 crashes if a reader leaves a disk with an I/O thread, but not if its own server ends before.
        await this.deps.job.settle(id.uuid, settled, { isComplete: keep, volumes });
      } finally {
        for (const disk of opened) disk.close();
        await served.folder.release();
      }
    };
    try {
      const begun = await this.deps.lock.run(id.uuid, () => this.begin(id, request, { served, signal }));
      const disks: BackupDisk[] = [];
      for (const { target, hasBitmaps } of served.disks) {
        signal.throwIfAborted();
        const isIncrement = begun.isIncrement && hasBitmaps;
        const disk = await this.connect(served, target, isIncrement);
        opened.push(disk);
        disks.push(await this.toDisk(id, { target, disk, isIncrement }));
      }
      const { checkpoint } = record;
      const { consistency, warnings, wholeReason } = begun;
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

  /** Changes nothing but the folder of the socket. */
  private async prepare(id: DomainId, { domain, disks, series }: RunningRequest): Promise<Served> {
    const { connection, pool, clock, service } = this.deps;
    const { description } = domain;
    const [reading] = await connection.domains.read([id]);
    const sizes = new Map<string, number>();
    for (const { target } of disks) {
      const bytes = reading?.diskBytes.get(target);
      if (bytes === undefined)
        throw new DomainError('BACKEND_FAILED', `The size of the disk ${target} of ${id.name} is not known.`);
      sizes.set(target, bytes);
    }
    const random = randomBytes(4).toString('hex');
    const scratchOf = (target: string): string => `headgate-${id.uuid.slice(0, 8)}-${random}-${target}${COPY_SUFFIX}`;
    const poolPath = await pool.path();
    const copied = new Set(disks.map(({ target }) => target));
    const hasBitmaps = disks.some(({ format }) => format === 'qcow2');
    const socket = `headgate-${random}.sock`;
    const [first] = disks;
    if (!first) throw new DomainError('NOT_SUPPORTED', `${id.name} has no disk.`);
    const folder = await socketFolder(description, { uri: connection.uri, socket, diskPath: first.path });
    return {
      record: {
        service: service(),
        startedAt: clock.iso(),
        volume: scratchOf(first.target),
        ...(hasBitmaps && { checkpoint: newSeriesCheckpoint(series) }),
        ...(description.agent === 'connected' && { freezes: true }),
      },
      disks: disks.map(({ target, format }) => ({
        target,
        scratch: join(poolPath, scratchOf(target)),
        hasBitmaps: format === 'qcow2',
      })),
      others: description.disks.map(({ target }) => target).filter((target) => !copied.has(target)),
      sizes,
      folder,
      socket,
    };
  }

  /** Callers hold the domain's lock. */
  private async begin(
    id: DomainId,
    { since, domain }: RunningRequest,
    { served, signal }: { readonly served: Served; readonly signal: AbortSignal },
  ): Promise<Begun> {
    const { editor, pool, freezer } = this.deps;
    const { record, disks, sizes } = served;
    const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
    await editor.updateMetadata(id.uuid, (metadata) => {
      // Another service may have begun one.
      if (metadata.backup) throw busy(metadata.backup);
      return {
        ...metadata,
        backup: record,
        volumes: [
          ...metadata.volumes,
          ...disks.map(({ scratch }) => ({ pool: pool.name, name: nameOf(scratch), role: 'backup' as const })),
        ],
      };
    });
    for (const { target, scratch } of disks) await pool.createBlank(nameOf(scratch), sizes.get(target) ?? 0);
    signal.throwIfAborted();
    const usable = await this.usable(id, since);
    const agent = domain.description.agent;
    if (!record.freezes) {
      const begun = await this.serve(id, served, usable);
      const reason = agent === 'none' ? 'The VM has no guest agent.' : 'The guest agent is not connected.';
      return { ...begun, consistency: 'crash', warnings: [crashWarning(reason)] };
    }
    try {
      const frozen = await freezer.freeze(id);
      // The guest may have been waiting for long.
      signal.throwIfAborted();
      // Nothing but the beginning of the backup happens while the guest can't write.
      const begun = await this.serve(id, served, usable);
      return frozen === true
        ? { ...begun, consistency: 'frozen', warnings: [] }
        : { ...begun, consistency: 'crash', warnings: [crashWarning(frozen)] };
    } finally {
      await freezer.thaw(id);
    }
  }

  private async serve(
    { uuid }: DomainId,
    { disks, others, folder, socket, record: { checkpoint } }: Served,
    { since, wholeReason }: { readonly since?: string; readonly wholeReason?: string },
  ): Promise<Pick<Begun, 'isIncrement' | 'wholeReason'>> {
    const { backups } = this.deps.connection;
    const backup: ServedBackup = {
      socket: join(folder.path, socket),
      disks,
      others,
      ...(checkpoint !== undefined && { checkpoint: checkpointOf(checkpoint) }),
    };
    if (since === undefined) {
      await backups.serveBackup(uuid, backup);
      return { isIncrement: false, ...(wholeReason !== undefined && { wholeReason }) };
    }
    try {
      await backups.serveBackup(uuid, { ...backup, since });
      return { isIncrement: true };
    } catch (error) {
      if (!DomainError.is(error, 'CHECKPOINT_INCONSISTENT', 'CHECKPOINT_NOT_FOUND')) throw error;
      await backups.serveBackup(uuid, backup);
      return { isIncrement: false, wholeReason: LOST };
    }
  }

  private async usable(
    { uuid }: DomainId,
    since: string | undefined,
  ): Promise<{ readonly since?: string; readonly wholeReason?: string }> {
    if (since === undefined) return {};
    const known = await this.deps.connection.backups.checkpoints(uuid);
    return known.includes(since) ? { since } : { wholeReason: LOST };
  }

  private async connect({ folder, socket }: Served, target: string, isIncrement: boolean): Promise<NbdDisk> {
    const connection = await NbdConnection.open(folder.path, socket);
    if (!connection)
      throw new DomainError('BACKEND_FAILED', `QEMU does not serve the disk ${target} for the backup: see its log.`);
    const context = isIncrement ? `qemu:dirty-bitmap:${servedBitmap(target)}` : 'base:allocation';
    return NbdDisk.open(connection, target, context, { staysConnected: true }).catch((error: unknown) => {
      connection.socket.destroy();
      throw error;
    });
  }

  private async toDisk(
    id: DomainId,
    { target, disk, isIncrement }: { readonly target: string; readonly disk: NbdDisk; readonly isIncrement: boolean },
  ): Promise<BackupDisk> {
    const marked = await disk.marked(isIncrement ? undefined : BYTES_OF_ZEROS);
    const changed: 'all' | readonly DiskExtent[] = isIncrement ? marked : 'all';
    const read = (offset: number, length: number): Promise<Buffer> =>
      disk.read(offset, length).catch((error: unknown) => this.explain(id, error));
    return {
      name: target,
      sizeBytes: disk.sizeBytes,
      changed,
      read: isIncrement ? read : withoutZeros(marked, read),
    };
  }

  /** The connection ends with the guest. */
  private async explain(id: DomainId, error: unknown): Promise<never> {
    const domain = await this.deps.connection.domains.inspect(id.uuid).catch(() => undefined);
    if (domain?.state.isActive) throw error;
    throw new DomainError('WRONG_STATE', `${id.name} has stopped while it was backed up.`, { cause: error });
  }
}

const LOST = 'The record of the changes since the last backup is lost.';

const crashWarning = (reason: string): string =>
  `${reason} The file systems of the backup are as after a power failure.`;
