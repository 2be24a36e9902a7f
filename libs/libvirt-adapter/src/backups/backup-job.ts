import { DomainError, messageOf, type Clock, type Log } from '@headgate/domain-contracts';
import type { DiskBackup } from '../connection/backup-operations.js';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import type { BackupRecord } from '../domain-xml/backup-metadata.js';
import type { DomainEditor } from '../domains/domain-editor.js';
import type { StoragePool } from '../storage/storage-pool.js';
import type { KeyedLock } from '../locks/concurrency.js';
import { GuestFreezer } from './guest-freezer.js';
import type { RecordedCheckpoints } from './recorded-checkpoints.js';

export interface BackupJobDeps {
  readonly connection: LibvirtConnection;
  readonly pool: StoragePool;
  readonly editor: DomainEditor;
  readonly lock: KeyedLock;
  readonly clock: Clock;
  readonly log: Log;
}

const JOB_INTERVAL_MS = 100;
/** How long QEMU may take to close the file after the end of the job. */
const CLOSE_TIMEOUT_MS = 30_000;
const STOPPED = 'the VM stopped or crashed meanwhile';
/** Ending of the names of the volumes that receive copies. */
export const COPY_SUFFIX = '-backup.qcow2';

/**
 * Copies the disk of a running domain into a volume. The metadata of the domain names the volume and the new checkpoint
 * before they are created, so that nothing is left over by an interruption.
 */
export class BackupJob {
  private readonly freezer: GuestFreezer;

  constructor(
    private readonly deps: BackupJobDeps,
    private readonly checkpoints: RecordedCheckpoints,
  ) {
    this.freezer = new GuestFreezer(deps);
  }

  /** Callers hold the domain's lock. */
  async begin(
    uuid: string,
    backup: DiskBackup,
    { record, diskBytes }: { readonly record: BackupRecord; readonly diskBytes: number },
  ): Promise<void> {
    const { editor, pool, connection } = this.deps;
    await editor.updateMetadata(uuid, (metadata) => {
      if (metadata.backup) throw busy(metadata.backup);
      const volume = { pool: pool.name, name: record.volume, role: 'backup' as const };
      return { ...metadata, backup: record, volumes: [...metadata.volumes, volume] };
    });
    // QEMU 7.2 can crash if it creates the file itself while libvirt reads the statistics of its disks.
    await pool.createBlank(record.volume, diskBytes);
    await connection.backups.beginBackup(uuid, backup);
  }

  /** Waits until the copy is complete. @throws DomainError BACKEND_FAILED, or the reason of `signal` */
  async finish(uuid: string, signal: AbortSignal): Promise<void> {
    const { backups } = this.deps.connection;
    for (;;) {
      signal.throwIfAborted();
      if ((await backups.runningBackup(uuid)) === undefined) break;
      await this.deps.clock.delay(JOB_INTERVAL_MS);
    }
    const outcome = await backups.backupOutcome(uuid).catch((error: unknown) => {
      if (!DomainError.is(error, 'WRONG_STATE', 'INSTANCE_NOT_FOUND')) throw error;
      return { isComplete: false as const, reason: STOPPED };
    });
    if (outcome.isComplete) return;
    // libvirt calls a backup canceled whose QEMU has ended.
    const reason = (await this.isRunning(uuid)) ? outcome.reason : STOPPED;
    throw new DomainError('BACKEND_FAILED', `The disk was not copied: ${reason}.`);
  }

  private async isRunning(uuid: string): Promise<boolean> {
    try {
      return (await this.deps.editor.read(uuid)).isActive;
    } catch (error) {
      if (DomainError.is(error, 'INSTANCE_NOT_FOUND')) return false;
      throw error;
    }
  }

  /** Repeats an operation on the copy until QEMU has closed it, shortly after the end of the job. */
  async onceClosed<T>(work: () => Promise<T>): Promise<T> {
    const { clock } = this.deps;
    const deadline = clock.now() + CLOSE_TIMEOUT_MS;
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!DomainError.is(error, 'BUSY') || clock.now() >= deadline) throw error;
        await clock.delay(JOB_INTERVAL_MS);
      }
    }
  }

  /**
   * Removes the traces of an export that has ended or was interrupted. Only a complete one keeps its checkpoint.
   * @param volumes all volumes of the backup
   */
  async settle(
    uuid: string,
    record: BackupRecord,
    { isComplete, volumes = [record.volume] }: { readonly isComplete: boolean; readonly volumes?: readonly string[] },
  ): Promise<void> {
    const { lock, log } = this.deps;
    try {
      await lock.run(uuid, () => this.release(uuid, record, isComplete));
    } catch (error) {
      if (DomainError.is(error, 'INSTANCE_NOT_FOUND')) {
        for (const volume of volumes) await this.removeCopy(volume);
        return;
      }
      // The record stays, and the next start of the service tries again.
      log.warn({ domain: uuid, reason: messageOf(error) }, 'the files of an export could not be removed');
      // Its checkpoint is not usable, so the client must not take the export for complete.
      if (isComplete) throw error;
    }
  }

  private async release(uuid: string, record: BackupRecord, isComplete: boolean): Promise<void> {
    const { editor } = this.deps;
    const { volume, checkpoint, freezes } = record;
    const domain = await editor.read(uuid);
    const { name, metadata } = domain.description;
    if (metadata.backup?.volume !== volume) return;
    if (freezes && domain.isActive) await this.freezer.thaw({ uuid, name });
    await this.abort(uuid, volume);
    if (!isComplete && checkpoint !== undefined) await this.checkpoints.remove(await editor.read(uuid), checkpoint);
    // A domain has one backup at a time.
    for (const one of metadata.volumes) if (one.role === 'backup') await this.removeCopy(one.name);
    await editor.updateMetadata(uuid, ({ backup: _ended, ...rest }) => ({
      ...rest,
      volumes: rest.volumes.filter(({ role }) => role !== 'backup'),
    }));
  }

  /** Ends the job that writes to the volume, if it is still running. Those of other programs continue. */
  private async abort(uuid: string, volume: string): Promise<void> {
    const { backups } = this.deps.connection;
    const file = `${await this.deps.pool.path()}/${volume}`;
    const isRunning = async (): Promise<boolean> => (await backups.runningBackup(uuid))?.includes(file) ?? false;
    while (await isRunning()) {
      await backups.abortBackup(uuid).catch((error: unknown) => {
        // It may have ended, or is ending.
        if (!DomainError.is(error, 'WRONG_STATE', 'BUSY', 'TASK_NOT_FOUND')) throw error;
      });
      await this.deps.clock.delay(JOB_INTERVAL_MS);
    }
  }

  /** libvirt does not know the file as a volume before the pool is read again. */
  private async removeCopy(volume: string): Promise<void> {
    const { pool } = this.deps;
    if (!volume.endsWith(COPY_SUFFIX) || volume.includes('/')) return;
    if ((await pool.volumes()).includes(volume)) await pool.remove(volume);
  }
}

export const busy = ({ startedAt }: BackupRecord): DomainError =>
  new DomainError('BUSY', `The disk of this VM is being exported since ${startedAt}: wait until that has ended.`);
