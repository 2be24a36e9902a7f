import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import {
  DomainError,
  LiveDisks,
  messageOf,
  releaseOnDestroy,
  type DiskChanges,
  type DiskRecording,
  type InstanceRef,
  type Refusal,
} from '@headgate/domain-contracts';
import { SPACE_WATERMARK_BYTES } from '@headgate/downloads';
import type { FrozenDisk, LibvirtBackups } from '../backups/libvirt-backups.js';
import { RecordedCheckpoints } from '../backups/recorded-checkpoints.js';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import type { DomainFinder, DomainId } from '../domains/domain-finder.js';
import { openMarkedDisk } from '../export/marked-disk.js';
import type { ExportedDisk, NbdServerOptions } from '../export/nbd-server.js';
import { expectOwnSession, foreignSessionRefusal } from '../host/foreign-session.js';
import { isRemote } from '../host/host.js';
import type { DomainEditor, EditableDomain } from '../domains/domain-editor.js';
import type { QemuImg } from '../storage/qemu-img.js';
import type { StoragePool } from '../storage/storage-pool.js';
import type { KeyedLock } from '../locks/concurrency.js';
import { findCopyableDisks, type CopyableDisk } from './copyable-disks.js';
import { openDisk, type OpenDiskDeps } from './libvirt-disk-source.js';

export interface LibvirtLiveDisksDeps extends OpenDiskDeps {
  readonly connection: LibvirtConnection;
  readonly finder: DomainFinder;
  readonly editor: DomainEditor;
  readonly lock: KeyedLock;
  readonly pool: StoragePool;
  readonly images: Pick<QemuImg, 'removeBitmap'>;
  readonly backups: Pick<LibvirtBackups, 'freeze' | 'whenSettled'>;
}

/** libvirt's name of a checkpoint of a recording, which is also that of its bitmap. Those of exports contain a dot. */
const prefixOf = ({ id }: DiskRecording): string => `headgate-move-${id}-`;
const checkpointName = (recording: DiskRecording, disk: string, moment: number): string =>
  `${prefixOf(recording)}${disk}-${moment}`;

/**
 * Reads the disks of running domains through libvirt's backups: each moment is a checkpoint, whose content, or the
 * changes since the one before, libvirt copies into a temporary volume. Once the domain is stopped, the bitmap of the
 * last checkpoint is in the image.
 */
export class LibvirtLiveDisks extends LiveDisks {
  private readonly checkpoints: RecordedCheckpoints;

  constructor(private readonly deps: LibvirtLiveDisksDeps) {
    super();
    this.checkpoints = new RecordedCheckpoints(deps.connection, deps.images);
  }

  override async check(ref: InstanceRef): Promise<readonly Refusal[]> {
    const { connection, pool, users } = this.deps;
    const foreign = await foreignSessionRefusal(connection.uri, users);
    if (foreign) return [foreign];
    const { description } = await this.read(ref);
    if (isRemote(connection.uri)) return [];
    const { disks } = findCopyableDisks(description);
    const refusals = disks.flatMap((disk) => formatRefusals(disk, description.name));
    const state = await pool.space();
    const largest = Math.max(0, ...(await Promise.all(disks.map(({ path }) => allocatedBytes(path)))));
    if (state?.isActive && state.availableBytes - largest < SPACE_WATERMARK_BYTES)
      refusals.push({
        code: 'INSUFFICIENT_STORAGE',
        reason: `The storage pool ${pool.name} has no space for a temporary copy of the largest disk of ${description.name}.`,
        remedy: 'Free some space on the machine, or use cold.',
      });
    return refusals;
  }

  override async open(recording: DiskRecording, disk: string, signal: AbortSignal): Promise<Readable> {
    const { id, found } = await this.find(recording, disk);
    const frozen = await this.freeze(recording, { id, disk: found, moment: 1 }, signal);
    const release = (): Promise<void> => frozen.release({ isComplete: true });
    try {
      return releaseOnDestroy(await openDisk({ path: frozen.path, format: 'qcow2' }, this.deps, signal), release);
    } catch (error) {
      await frozen.release({ isComplete: false });
      throw error;
    }
  }

  override async changes(
    recording: DiskRecording,
    { disk, since }: { readonly disk: string; readonly since: number },
    signal: AbortSignal,
  ): Promise<DiskChanges> {
    const { id, found, domain } = await this.find(recording, disk);
    await this.expectCheckpoint(id, checkpointName(recording, disk, since), disk);
    if (!domain.isActive) return this.lastChanges(recording, found, { since, signal });
    const frozen = await this.freeze(recording, { id, disk: found, moment: since + 1 }, signal);
    try {
      // Only the last two moments are needed.
      if (since > 1) await this.remove(id.uuid, checkpointName(recording, disk, since - 1));
      const opened = await this.serve({ path: frozen.path, format: 'qcow2' }, 'allocated', signal);
      return {
        ...opened,
        isLast: false,
        close: async () => {
          await opened.close();
          await frozen.release({ isComplete: true });
        },
      };
    } catch (error) {
      await frozen.release({ isComplete: false });
      throw error;
    }
  }

  override async end(recording: DiskRecording): Promise<void> {
    const { finder, connection, backups } = this.deps;
    const id = await finder.find(recording.ref).catch((error: unknown) => {
      if (DomainError.is(error, 'INSTANCE_NOT_FOUND')) return undefined;
      throw error;
    });
    if (!id) return;
    await backups.whenSettled();
    const names = await connection.backups.checkpoints(id.uuid);
    for (const name of names) if (name.startsWith(prefixOf(recording))) await this.remove(id.uuid, name);
  }

  private async freeze(
    recording: DiskRecording,
    { id, disk, moment }: { readonly id: DomainId; readonly disk: CopyableDisk; readonly moment: number },
    signal: AbortSignal,
  ): Promise<FrozenDisk> {
    const { connection, backups } = this.deps;
    await backups.whenSettled();
    const [refusal] = formatRefusals(disk, id.name);
    if (refusal) throw new DomainError(refusal.code, refusal.reason);
    const checkpoint = checkpointName(recording, disk.target, moment);
    // Of an earlier attempt.
    await this.remove(id.uuid, checkpoint);
    try {
      const request = {
        target: disk.target,
        checkpoint,
        ...(moment > 1 && { since: checkpointName(recording, disk.target, moment - 1) }),
        bytes: moment === 1 ? await allocatedBytes(disk.path) : 0,
      };
      return await backups.freeze(id, request, signal);
    } catch (error) {
      signal.throwIfAborted();
      // The copy may have ended with the guest.
      const domain = await connection.domains.inspect(id.uuid);
      if (domain && !domain.state.isActive && !DomainError.is(error, 'WRONG_STATE'))
        throw new DomainError('WRONG_STATE', `${id.name} has stopped.`, { cause: error });
      throw error;
    }
  }

  private async lastChanges(
    recording: DiskRecording,
    disk: CopyableDisk,
    { since, signal }: { readonly since: number; readonly signal: AbortSignal },
  ): Promise<DiskChanges> {
    const bitmap = checkpointName(recording, disk.target, since);
    try {
      return { ...(await this.serve(disk, { bitmap }, signal)), isLast: true };
    } catch (error) {
      // qemu-nbd names the bitmap when it is missing, or was not closed when its guest ended.
      if (!messageOf(error).includes(bitmap)) throw error;
      throw lost(disk.target, error);
    }
  }

  private async serve(
    disk: ExportedDisk,
    marks: NonNullable<NbdServerOptions['marks']>,
    signal: AbortSignal,
  ): Promise<Omit<DiskChanges, 'isLast'>> {
    const { disk: opened, close } = await openMarkedDisk(disk, marks, this.deps, signal);
    try {
      return {
        sizeBytes: opened.sizeBytes,
        extents: await opened.marked(),
        read: (offset, length) => opened.read(offset, length),
        close,
      };
    } catch (error) {
      await close();
      throw error;
    }
  }

  /**
   * libvirt forgets the checkpoints of a domain whose record of changes is lost in some ways only, so QEMU checks the
   * bitmap as well.
   */
  private async expectCheckpoint({ uuid }: DomainId, name: string, disk: string): Promise<void> {
    if (!(await this.deps.connection.backups.checkpoints(uuid)).includes(name)) throw lost(disk);
  }

  private remove(uuid: string, checkpoint: string): Promise<void> {
    const { lock, editor } = this.deps;
    return lock.run(uuid, async () => this.checkpoints.remove(await editor.read(uuid), checkpoint));
  }

  private async read(ref: InstanceRef): Promise<EditableDomain> {
    const { finder, editor } = this.deps;
    return editor.read((await finder.find(ref)).uuid);
  }

  private async find(
    { ref }: DiskRecording,
    disk: string,
  ): Promise<{ readonly id: DomainId; readonly found: CopyableDisk; readonly domain: EditableDomain }> {
    await expectOwnSession(this.deps.connection.uri, this.deps.users);
    const id = await this.deps.finder.find(ref);
    const domain = await this.deps.editor.read(id.uuid);
    const found = findCopyableDisks(domain.description).disks.find(({ target }) => target === disk);
    if (!found) throw new DomainError('DEVICE_NOT_FOUND', `${ref.name} has no disk ${disk} that can be copied.`);
    return { id, found, domain };
  }
}

const formatRefusals = ({ target, format }: CopyableDisk, name: string): Refusal[] =>
  format === 'qcow2'
    ? []
    : [
        {
          code: 'NOT_SUPPORTED',
          reason: `The changes of the ${format} disk ${target} of ${name} can't be recorded.`,
          remedy: 'Use cold, or convert the disk to qcow2.',
        },
      ];

const lost = (disk: string, cause?: unknown): DomainError =>
  new DomainError('CHECKPOINT_INCONSISTENT', `The record of the changes of the disk ${disk} is not complete.`, {
    cause,
  });

const SECTOR_BYTES = 512;

/** The space that the file takes; 0 if it is not known. */
const allocatedBytes = (path: string): Promise<number> =>
  stat(path).then(
    ({ blocks }) => blocks * SECTOR_BYTES,
    () => 0,
  );
