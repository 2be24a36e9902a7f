import { createReadStream } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import {
  backupImageName,
  buildPlan,
  completeAtEnd,
  DomainError,
  InstanceBackups,
  isIncremental,
  messageOf,
  type BackupRequest,
  type Checkpoint,
  type InstanceRef,
  type Plan,
} from '@headgate/domain-contracts';
import { SPACE_WATERMARK_BYTES } from '@headgate/downloads';
import type { DomainDescription } from '../domain-xml/domain-description.js';
import type { BackupRecord } from '../domain-xml/backup-metadata.js';
import type { DomainFinder, DomainId } from '../domains/domain-finder.js';
import { DiskStreams, type DiskStreamsDeps } from '../export/disk-streams.js';
import { exportedDisk, notLocal } from '../export/libvirt-export.js';
import { expectOwnSession } from '../host/foreign-session.js';
import { isRemote } from '../host/host.js';
import type { EditableDomain } from '../domains/domain-editor.js';
import { busyRefusal, type DiskHolds } from '../locks/disk-holds.js';
import type { QemuImg } from '../storage/qemu-img.js';
import { BackupJob, busy, COPY_SUFFIX, type BackupJobDeps } from './backup-job.js';
import { checkpointOf, newCheckpointId, RecordedCheckpoints, type RecordedCheckpoint } from './recorded-checkpoints.js';

export interface LibvirtBackupsDeps extends BackupJobDeps, DiskStreamsDeps {
  readonly finder: DomainFinder;
  readonly holds: DiskHolds;
  readonly images: Pick<QemuImg, 'rebase' | 'inspect' | 'removeBitmap'>;
  /** The identity of this service. */
  readonly service: () => string;
}

/** QEMU keeps the bitmaps of all checkpoints in memory and updates them with each write. */
const MAX_CHECKPOINTS = 64;
const BLOCK_BYTES = 512;

interface Prepared {
  readonly domain: EditableDomain;
  readonly target: string;
  /** The size that the guest sees. */
  readonly diskBytes: number;
  readonly since?: Pick<RecordedCheckpoint, 'id'>;
}

interface Copy {
  readonly record: BackupRecord;
  readonly path: string;
}

/** A disk to copy as it is at one moment, for another reader than an export. */
export interface FreezeRequest {
  /** Such as `vda`. */
  readonly target: string;
  /** libvirt's name of the checkpoint of the moment. */
  readonly checkpoint: string;
  /** Only the changes since this checkpoint. */
  readonly since?: string;
  /** The space that the copy needs at most. */
  readonly bytes: number;
}

/** A qcow2 image with the content that a disk had at one moment. */
export interface FrozenDisk {
  readonly path: string;
  /** Removes the image, and its checkpoint as well unless it was read completely. */
  release(outcome: { readonly isComplete: boolean }): Promise<void>;
}

/**
 * Exports of running domains. libvirt copies the disk, or the parts of it that have changed, as they are at one moment,
 * into a temporary volume, which is streamed afterwards. A slow reader costs space, but does not slow down the guest.
 */
export class LibvirtBackups extends InstanceBackups {
  private readonly checkpoints: RecordedCheckpoints;
  private readonly job: BackupJob;
  private readonly streams: DiskStreams;
  /** UUIDs of the domains that this process is exporting. */
  private readonly active = new Set<string>();
  private readonly settling = new Set<Promise<void>>();

  constructor(private readonly deps: LibvirtBackupsDeps) {
    super();
    this.checkpoints = new RecordedCheckpoints(deps.connection, deps.images);
    this.job = new BackupJob(deps, this.checkpoints);
    this.streams = new DiskStreams(deps);
  }

  override async list(ref: InstanceRef): Promise<readonly Checkpoint[]> {
    const { uuid } = await this.deps.finder.find(ref);
    const found = await this.checkpoints.list(await this.deps.editor.read(uuid));
    return found.map(({ id: _id, ...checkpoint }) => checkpoint);
  }

  override async check(ref: InstanceRef, request: BackupRequest): Promise<void> {
    const id = await this.deps.finder.find(ref);
    this.expectFree(id);
    await this.prepare(id, request);
    if (!isIncremental(request)) await this.streams.expectProgram(request.format);
  }

  override async open(ref: InstanceRef, request: BackupRequest, signal: AbortSignal): Promise<Readable> {
    const id = await this.deps.finder.find(ref);
    signal.throwIfAborted();
    this.expectFree(id);
    this.active.add(id.uuid);
    try {
      return await this.copyAndStream(id, ref, request, signal);
    } catch (error) {
      this.active.delete(id.uuid);
      throw error;
    }
  }

  override async planDelete(ref: InstanceRef, name: string): Promise<Plan> {
    const id = await this.deps.finder.find(ref);
    await this.checkpoints.find(await this.deps.editor.read(id.uuid), id, name);
    const refusals = this.active.has(id.uuid) ? [busyRefusal(id.name)] : [];
    const detail = `Stop recording the changes since the checkpoint ${name}.`;
    return buildPlan([{ name: 'delete', detail }], { refusals });
  }

  override async delete(ref: InstanceRef, name: string): Promise<void> {
    const id = await this.deps.finder.find(ref);
    this.expectFree(id);
    await this.deps.holds.run(id, () =>
      this.deps.lock.run(id.uuid, async () => {
        const domain = await this.deps.editor.read(id.uuid);
        const checkpoint = await this.checkpoints.find(domain, id, name);
        await this.checkpoints.remove(domain, checkpoint.id);
      }),
    );
  }

  /**
   * Copies a disk of a running domain, or its changes, into a temporary volume.
   * @throws DomainError WRONG_STATE, BUSY, CHECKPOINT_INCONSISTENT, INSUFFICIENT_STORAGE
   */
  async freeze(
    id: DomainId,
    { target, bytes, since, checkpoint }: FreezeRequest,
    signal: AbortSignal,
  ): Promise<FrozenDisk> {
    const { holds, pool, connection, editor } = this.deps;
    signal.throwIfAborted();
    this.expectFree(id);
    this.active.add(id.uuid);
    try {
      const domain = await editor.read(id.uuid);
      if (!domain.isActive) throw new DomainError('WRONG_STATE', `${id.name} is not running.`);
      await this.expectIdle(domain);
      await pool.checkSpace(bytes, SPACE_WATERMARK_BYTES);
      const [reading] = await connection.domains.read([id]);
      const diskBytes = reading?.diskBytes.get(target);
      if (diskBytes === undefined)
        throw new DomainError('BACKEND_FAILED', `The size of the disk ${target} of ${id.name} is not known.`);
      const prepared = { domain, target, diskBytes, ...(since !== undefined && { since: { id: since } }) };
      const { record, path } = await holds.run(id, () => this.copyNow(id, { prepared, checkpoint }, signal));
      const release: FrozenDisk['release'] = (outcome) =>
        this.track(this.job.settle(id.uuid, record, outcome).finally(() => this.active.delete(id.uuid)));
      await this.job
        .onceClosed(() => this.deps.images.inspect(path))
        .catch(async (error: unknown) => {
          await release({ isComplete: false });
          throw error;
        });
      return { path, release };
    } catch (error) {
      this.active.delete(id.uuid);
      throw error;
    }
  }

  /**
   * Reserves the disks of a domain for a backup that another class makes.
   * @returns frees them
   * @throws DomainError BUSY
   */
  claim(id: DomainId): () => void {
    this.expectFree(id);
    this.active.add(id.uuid);
    return () => void this.active.delete(id.uuid);
  }

  /** Resolves when nothing of ended exports and of those that an earlier run has left is being removed. */
  async whenSettled(): Promise<void> {
    await Promise.allSettled(this.settling);
  }

  /** Ends an export that the end of an earlier run has interrupted, and removes its files and its checkpoint. */
  recover({ uuid, name, metadata }: DomainDescription): void {
    const { backup, owner } = metadata;
    if (owner !== uuid || backup?.service !== this.deps.service() || this.active.has(uuid)) return;
    this.active.add(uuid);
    this.deps.log.warn({ domain: name }, 'an interrupted export is removed');
    this.track(this.job.settle(uuid, backup, { isComplete: false }).finally(() => this.active.delete(uuid)));
  }

  /** Resolves when nothing of an ended export is left. */
  async close(): Promise<void> {
    await Promise.all(this.settling);
  }

  private async copyAndStream(
    id: DomainId,
    ref: InstanceRef,
    request: BackupRequest,
    signal: AbortSignal,
  ): Promise<Readable> {
    const { uuid } = id;
    const copy = await this.deps.holds.run(id, () => this.copy(id, request, signal));
    try {
      const stream = await this.job.onceClosed(() => this.stream(copy, ref, request, signal));
      // A client that has received the end of the export can rely on its checkpoint.
      return completeAtEnd(stream, (isComplete) => {
        const settled = this.job.settle(uuid, copy.record, { isComplete });
        return this.track(settled.finally(() => this.active.delete(uuid)));
      });
    } catch (error) {
      await this.job.settle(uuid, copy.record, { isComplete: false });
      throw error;
    }
  }

  /** Copies the disk, or its changes, into a new volume. */
  private async copy(id: DomainId, request: BackupRequest, signal: AbortSignal): Promise<Copy> {
    const prepared = await this.prepare(id, request);
    const { checkpoint } = request;
    return this.copyNow(
      id,
      { prepared, ...(checkpoint !== undefined && { checkpoint: newCheckpointId(checkpoint) }) },
      signal,
    );
  }

  /** @param order.checkpoint libvirt's name of the new checkpoint */
  private async copyNow(
    id: DomainId,
    { prepared, checkpoint }: { readonly prepared: Prepared; readonly checkpoint?: string },
    signal: AbortSignal,
  ): Promise<Copy> {
    const { lock, pool, clock, service } = this.deps;
    const { uuid, name } = id;
    const record: BackupRecord = {
      service: service(),
      startedAt: clock.iso(),
      volume: `${name}-${uuid.slice(0, 8)}-${randomBytes(4).toString('hex')}${COPY_SUFFIX}`,
      ...(checkpoint !== undefined && { checkpoint }),
    };
    // There is none before the service has created a VM.
    await pool.ensure();
    const path = `${await pool.path()}/${record.volume}`;
    try {
      await lock.run(uuid, () => this.begin(uuid, prepared, record, path));
      await this.job.finish(uuid, signal);
      return { record, path };
    } catch (error) {
      await this.job.settle(uuid, record, { isComplete: false });
      throw error;
    }
  }

  private async begin(uuid: string, prepared: Prepared, record: BackupRecord, file: string): Promise<void> {
    const { domain, target, diskBytes, since } = prepared;
    const others = domain.description.disks.map((disk) => disk.target).filter((other) => other !== target);
    const { checkpoint } = record;
    await this.job.begin(
      uuid,
      {
        disks: [{ target, file, hasBitmaps: true }],
        others,
        ...(since && { since: since.id }),
        ...(checkpoint !== undefined && { checkpoint: checkpointOf(checkpoint) }),
      },
      { record, diskBytes },
    );
  }

  private async stream(
    { path }: Copy,
    ref: InstanceRef,
    request: BackupRequest,
    signal: AbortSignal,
  ): Promise<Readable> {
    signal.throwIfAborted();
    const { images } = this.deps;
    if (!isIncremental(request)) {
      // It fails until QEMU has closed the copy.
      await images.inspect(path);
      return this.streams.open({ path, format: 'qcow2' }, request.format, signal);
    }
    await images.rebase(path, backupImageName(ref.name, request.since));
    return createReadStream(path);
  }

  /** The checks before anything is changed. */
  private async prepare(id: DomainId, request: BackupRequest): Promise<Prepared> {
    const { connection, editor, pool } = this.deps;
    const { uuid, name } = id;
    const domain = await editor.read(uuid);
    const { description, isActive } = domain;
    const { metadata, unreadable } = description;
    if (!isActive)
      throw new DomainError(
        'WRONG_STATE',
        `${name} is not running. Start it, because only a running VM has checkpoints, or export its whole disk without one.`,
      );
    if (unreadable !== undefined) throw new DomainError('WRONG_STATE', `${name}: ${unreadable} Correct it with virsh.`);
    if (metadata.provisioning !== undefined) throw new DomainError('WRONG_STATE', `${name} is still being created.`);
    if (isRemote(connection.uri)) throw notLocal();
    await expectOwnSession(connection.uri);
    const { path, format, target } = exportedDisk(description, name);
    if (format !== 'qcow2')
      throw new DomainError(
        'NOT_SUPPORTED',
        `The changes of a ${format} disk can't be recorded: convert the disk of ${name} to qcow2, or export it while the VM is stopped.`,
      );
    const [reading] = await connection.domains.read([{ uuid, name }]);
    const diskBytes = reading?.diskBytes.get(target);
    if (diskBytes === undefined)
      throw new DomainError('BACKEND_FAILED', `The size of the disk of ${name} is not known.`);
    const existing = await this.checkpoints.list(domain);
    const since = isIncremental(request) ? this.usable(existing, name, request.since) : undefined;
    this.expectNew(existing, name, request.checkpoint);
    await this.expectIdle(domain);
    const bytes = since?.changedBytes ?? (await allocatedBytes([path, ...backingPathsOf(description, target)]));
    await pool.checkSpace(bytes, SPACE_WATERMARK_BYTES);
    return { domain, target, diskBytes, ...(since && { since }) };
  }

  private usable(existing: readonly RecordedCheckpoint[], vm: string, name: string): RecordedCheckpoint {
    const since = existing.find((checkpoint) => checkpoint.name === name);
    if (!since) throw new DomainError('CHECKPOINT_NOT_FOUND', `${vm} has no checkpoint ${name}.`);
    if (!since.ready)
      throw new DomainError('CHECKPOINT_INCONSISTENT', `${name} of ${vm} can't be used. ${since.reason ?? ''}`.trim());
    return since;
  }

  private expectNew(existing: readonly RecordedCheckpoint[], vm: string, name: string | undefined): void {
    if (name === undefined) return;
    if (existing.some((checkpoint) => checkpoint.name === name))
      throw new DomainError('ALREADY_EXISTS', `${vm} already has a checkpoint ${name}: choose another name.`);
    if (existing.length >= MAX_CHECKPOINTS)
      throw new DomainError(
        'WRONG_STATE',
        `${vm} has ${MAX_CHECKPOINTS} checkpoints already, and more would slow down its disk: delete some of them first.`,
      );
  }

  /** libvirt would wait for the end of another backup. */
  async expectIdle({ description }: EditableDomain): Promise<void> {
    const { uuid, name, metadata } = description;
    if (metadata.owner === uuid && metadata.backup) throw busy(metadata.backup);
    if (metadata.owner === uuid && metadata.pending) throw refusalOf(name);
    if ((await this.deps.connection.backups.runningBackup(uuid)) !== undefined)
      throw new DomainError('BUSY', `Another program is backing up ${name}: wait until that has ended.`);
  }

  private expectFree(id: DomainId): void {
    if (this.active.has(id.uuid)) throw new DomainError('BUSY', `${id.name} is being exported already.`);
    this.deps.holds.expectFree(id);
  }

  private track(work: Promise<void>): Promise<void> {
    this.settling.add(work);
    void work.catch((error: unknown) => this.deps.log.warn({ reason: messageOf(error) }, 'an export was not removed'));
    void work.catch(() => undefined).finally(() => this.settling.delete(work));
    return work;
  }
}

const refusalOf = (name: string): DomainError => {
  const { code, reason } = busyRefusal(name);
  return new DomainError(code, reason);
};

const backingPathsOf = ({ disks }: DomainDescription, target: string): readonly string[] =>
  disks.find((disk) => disk.target === target)?.backingPaths ?? [];

/** The space that the files of a disk take. A copy of the disk needs at most as much. */
async function allocatedBytes(paths: readonly string[]): Promise<number> {
  const sizes = await Promise.all(
    paths.map(async (path) => {
      try {
        return (await stat(path)).blocks * BLOCK_BYTES;
      } catch {
        return 0;
      }
    }),
  );
  return sizes.reduce((sum, bytes) => sum + bytes, 0);
}
