import {
  BackupSource,
  DomainError,
  messageOf,
  type BackupReading,
  type BackupReadRequest,
  type InstanceRef,
  type Refusal,
  type SavedDisks,
} from '@headgate/domain-contracts';
import { SPACE_WATERMARK_BYTES } from '@headgate/downloads';
import { GuestFreezer } from '../backups/guest-freezer.js';
import { BackupJob, type BackupJobDeps } from '../backups/backup-job.js';
import type { LibvirtBackups } from '../backups/libvirt-backups.js';
import { RecordedCheckpoints } from '../backups/recorded-checkpoints.js';
import type { DomainFinder, DomainId } from '../domains/domain-finder.js';
import type { EditableDomain } from '../domains/domain-editor.js';
import { expectOwnSession, foreignSessionRefusal } from '../host/foreign-session.js';
import { isRemote } from '../host/host.js';
import { busyRefusal, type DiskHolds } from '../locks/disk-holds.js';
import { findCopyableDisks, readingRefusal, type CopyableDisk } from '../moves/copyable-disks.js';
import type { OpenDiskDeps } from '../moves/libvirt-disk-source.js';
import type { QemuImg } from '../storage/qemu-img.js';
import { copySpace, spaceRefusal } from './copy-space.js';
import { isOfSeries } from './series.js';
import { snapshotVolumes } from './snapshot-volumes.js';
import { isCopiedFirst, RunningBackup } from './running-backup.js';
import { openStoppedDisks } from './stopped-disks.js';

export interface LibvirtBackupSourceDeps extends BackupJobDeps, OpenDiskDeps {
  readonly finder: DomainFinder;
  readonly holds: DiskHolds;
  readonly images: Pick<QemuImg, 'removeBitmap' | 'copyBytes'>;
  readonly backups: Pick<LibvirtBackups, 'claim' | 'expectIdle' | 'whenSettled'>;
  /** The identity of this service. */
  readonly service: () => string;
}

/** Reads the disks of a running domain through one backup of libvirt, and those of a stopped one through qemu-nbd. */
export class LibvirtBackupSource extends BackupSource {
  private readonly checkpoints: RecordedCheckpoints;
  private readonly running: RunningBackup;
  /** How the readings that are open are closed. */
  private readonly opened = new Set<BackupReading['close']>();
  private readonly closing = new Set<Promise<void>>();
  private readonly ending = new AbortController();

  constructor(private readonly deps: LibvirtBackupSourceDeps) {
    super();
    this.checkpoints = new RecordedCheckpoints(deps.connection, deps.images);
    const job = new BackupJob(deps, this.checkpoints);
    this.running = new RunningBackup({ ...deps, job, checkpoints: this.checkpoints, freezer: new GuestFreezer(deps) });
  }

  override async check(ref: InstanceRef, series?: string): Promise<readonly Refusal[]> {
    const id = await this.deps.finder.find(ref);
    const domain = await this.deps.editor.read(id.uuid);
    const refusals = await this.refusals(domain);
    if (refusals.length > 0) return refusals;
    if (this.deps.holds.has(id.uuid)) return [busyRefusal(id.name)];
    if (!domain.isActive) return [];
    const { disks } = findCopyableDisks(domain.description);
    const isCopied = isCopiedFirst(domain.description, disks);
    // The copies belong to the same user as the disks.
    const unreadable = isCopied ? await Promise.all(disks.map(readingRefusal)) : [];
    const [forbidden] = unreadable.filter((refusal) => refusal !== undefined);
    if (forbidden) return [forbidden];
    const { pool } = this.deps;
    const space = await pool.space();
    if (!space?.isActive) return [];
    const copyBytes = isCopied ? await this.copyBytes(id, disks, series) : 0;
    if (space.availableBytes - copyBytes >= SPACE_WATERMARK_BYTES) return [];
    return [spaceRefusal(id.name, { pool: pool.name, availableBytes: space.availableBytes, copyBytes })];
  }

  override open(ref: InstanceRef, request: BackupReadRequest, signal: AbortSignal): Promise<BackupReading> {
    const opening = this.openNow(ref, request, AbortSignal.any([signal, this.ending.signal]));
    void this.track(opening.then(() => undefined)).catch(() => undefined);
    return opening;
  }

  private async openNow(ref: InstanceRef, request: BackupReadRequest, signal: AbortSignal): Promise<BackupReading> {
    const { finder, backups, editor } = this.deps;
    const id = await finder.find(ref);
    signal.throwIfAborted();
    await backups.whenSettled();
    const free = this.hold(id);
    try {
      const domain = await editor.read(id.uuid);
      const [refusal] = await this.refusals(domain);
      if (refusal) throw new DomainError(refusal.code, refusal.reason);
      await expectOwnSession(this.deps.connection.uri, this.deps.users);
      const { disks } = findCopyableDisks(domain.description);
      const reading = domain.isActive
        ? await this.readRunning(id, { domain, disks, request }, signal)
        : await this.readStopped(disks, request, signal);
      const close = once((outcome) => {
        this.opened.delete(close);
        return this.track(reading.close(outcome).finally(free));
      });
      this.opened.add(close);
      return { ...reading, close };
    } catch (error) {
      free();
      throw error;
    }
  }

  override openSnapshot(ref: InstanceRef, snapshot: string, signal: AbortSignal): Promise<SavedDisks> {
    const opening = this.openSnapshotNow(ref, snapshot, AbortSignal.any([signal, this.ending.signal]));
    void this.track(opening.then(() => undefined)).catch(() => undefined);
    return opening;
  }

  private async openSnapshotNow(ref: InstanceRef, snapshot: string, signal: AbortSignal): Promise<SavedDisks> {
    const { finder, backups, editor, connection, pool } = this.deps;
    const id = await finder.find(ref);
    signal.throwIfAborted();
    await backups.whenSettled();
    const free = this.hold(id);
    try {
      await expectOwnSession(connection.uri, this.deps.users);
      if (isRemote(connection.uri))
        throw new DomainError('NOT_SUPPORTED', `The disks of ${id.name} are on another machine.`);
      const { description } = await editor.read(id.uuid);
      const { pending } = description.metadata;
      if (pending !== undefined) throw new DomainError('BUSY', `A ${pending.kind} of ${id.name} is in progress.`);
      const opened = await openStoppedDisks(await snapshotVolumes(description, snapshot, pool), this.deps, signal);
      const close = once(() => {
        this.opened.delete(close);
        return this.track(opened.close().finally(free));
      });
      this.opened.add(close);
      return { disks: opened.disks, close: () => close({ keep: false }) };
    } catch (error) {
      free();
      throw error;
    }
  }

  override async end(ref: InstanceRef, series: string): Promise<void> {
    const id = await this.deps.finder.find(ref).catch((error: unknown) => {
      if (DomainError.is(error, 'INSTANCE_NOT_FOUND')) return undefined;
      throw error;
    });
    if (id) await this.removeOthers(id, series);
  }

  override async endAll(series: string): Promise<void> {
    const failures: unknown[] = [];
    for (const id of await this.deps.finder.all())
      await this.removeOthers(id, series).catch((error: unknown) => {
        if (!DomainError.is(error, 'INSTANCE_NOT_FOUND')) failures.push(error);
      });
    if (failures.length > 0) throw failures[0];
  }

  /** Closes all readings, also those that are being opened, so that nothing is left for the next start. */
  async close(): Promise<void> {
    this.ending.abort(new DomainError('WRONG_STATE', 'The service is shutting down.'));
    await Promise.allSettled(this.closing);
    for (const close of [...this.opened]) void close({ keep: false }).catch(() => undefined);
    await Promise.allSettled(this.closing);
  }

  private async readRunning(
    id: DomainId,
    {
      domain,
      disks,
      request,
    }: {
      readonly domain: EditableDomain;
      readonly disks: readonly CopyableDisk[];
      readonly request: BackupReadRequest;
    },
    signal: AbortSignal,
  ): Promise<BackupReading> {
    await this.deps.backups.expectIdle(domain);
    await this.deps.pool.checkSpace(0, SPACE_WATERMARK_BYTES);
    const reading = await this.running.open(id, { domain, disks, ...request }, signal);
    const { checkpoint } = reading;
    return {
      ...reading,
      close: async ({ keep }) => {
        await reading.close({ keep });
        if (!keep || checkpoint === undefined) return;
        await this.removeOthers(id, request.series, checkpoint).catch((error: unknown) => {
          if (DomainError.is(error, 'INSTANCE_NOT_FOUND')) return;
          // The next backup of the series tries again.
          this.deps.log.warn({ domain: id.name, reason: messageOf(error) }, 'a former checkpoint was not removed');
        });
      },
    };
  }

  private async readStopped(
    disks: readonly CopyableDisk[],
    { since }: BackupReadRequest,
    signal: AbortSignal,
  ): Promise<BackupReading> {
    for (const disk of disks) {
      const refusal = await readingRefusal(disk);
      if (refusal) throw new DomainError(refusal.code, refusal.reason);
    }
    const opened = await openStoppedDisks(disks, this.deps, signal);
    return {
      disks: opened.disks,
      consistency: 'stopped',
      warnings: [],
      ...(since !== undefined && { wholeReason: 'The VM is stopped, and QEMU records no changes then.' }),
      close: () => opened.close(),
    };
  }

  private async refusals({ description, isPersistent, isActive }: EditableDomain): Promise<readonly Refusal[]> {
    const { connection, users } = this.deps;
    const { name, metadata, unreadable } = description;
    const foreign = await foreignSessionRefusal(connection.uri, users);
    if (foreign) return [foreign];
    const refusals: Refusal[] = [];
    const refuse = (code: Refusal['code'], reason: string, remedy: string): void =>
      void refusals.push({ code, reason, remedy });
    if (unreadable !== undefined) refuse('WRONG_STATE', `${name}: ${unreadable}`, 'Correct its metadata with virsh.');
    if (isRemote(connection.uri))
      refuse('NOT_SUPPORTED', `The disks of ${name} are on another machine.`, 'Run the service on that machine.');
    if (!isPersistent && !isActive)
      refuse('NOT_SUPPORTED', `${name} is a transient domain.`, 'Define it in libvirt first.');
    if (metadata.provisioning !== undefined)
      refuse('BUSY', `${name} is still being created.`, 'Wait until its disk is ready.');
    if (metadata.pending !== undefined)
      refuse('BUSY', `A ${metadata.pending.kind} of ${name} is in progress.`, 'Wait until it has ended.');
    return [...refusals, ...findCopyableDisks(description).refusals];
  }

  /** The space for copies of the disks, or of their changes since the checkpoint of the series. */
  private async copyBytes({ uuid }: DomainId, disks: readonly CopyableDisk[], series?: string): Promise<number> {
    const names = series === undefined ? [] : await this.deps.connection.backups.checkpoints(uuid);
    const since = names.findLast((name) => series !== undefined && isOfSeries(name, series));
    return (await copySpace(uuid, disks, since, { ...this.deps, checkpoints: this.checkpoints })).bytes;
  }

  /** Keeps other changes of the disks away. @returns frees the domain */
  private hold(id: DomainId): () => void {
    const { backups, holds } = this.deps;
    const unclaim = backups.claim(id);
    let free = (): void => undefined;
    const held = holds.run(id, () => new Promise<void>((resolve) => (free = resolve)));
    void held.catch(() => undefined);
    return () => {
      unclaim();
      free();
    };
  }

  /** Removes the checkpoints of a series, but for that of a backup in progress. @param kept this one stays */
  private async removeOthers({ uuid }: DomainId, series: string, kept?: string): Promise<void> {
    const { connection, lock, editor } = this.deps;
    for (const name of await connection.backups.checkpoints(uuid)) {
      if (name === kept || !isOfSeries(name, series)) continue;
      await lock.run(uuid, async () => {
        const domain = await editor.read(uuid);
        const { owner, backup } = domain.description.metadata;
        if (owner !== uuid || backup?.checkpoint !== name) await this.checkpoints.remove(domain, name);
      });
    }
  }

  private track(work: Promise<void>): Promise<void> {
    this.closing.add(work);
    void work.catch(() => undefined).finally(() => this.closing.delete(work));
    return work;
  }
}

/** Further calls wait for the first one. */
function once(close: BackupReading['close']): BackupReading['close'] {
  let closed: Promise<void> | undefined;
  return (outcome) => (closed ??= close(outcome));
}
