import { DomainError } from '@headgate/domain-contracts';
import {
  BackupOperations,
  backupXml,
  checkpointXml,
  servedBackupXml,
  type BackupOutcome,
  type DiskBackup,
  type ServedBackup,
} from '../connection/backup-operations.js';
import type { Virsh } from './virsh.js';

export class VirshBackups extends BackupOperations {
  constructor(private readonly virsh: Virsh) {
    super();
  }

  override async beginBackup(uuid: string, backup: DiskBackup): Promise<void> {
    await this.begin(uuid, [backupXml(backup), checkpointXml(backup)]);
  }

  override async serveBackup(uuid: string, backup: ServedBackup): Promise<void> {
    await this.begin(uuid, [servedBackupXml(backup), checkpointXml(backup)]);
  }

  override async runningBackup(uuid: string): Promise<string | undefined> {
    try {
      return await this.virsh.run(['backup-dumpxml', uuid]);
    } catch (error) {
      if (DomainError.is(error, 'TASK_NOT_FOUND')) return undefined;
      throw error;
    }
  }

  override async backupOutcome(uuid: string): Promise<BackupOutcome> {
    const stats = await this.virsh.run(['domjobinfo', uuid, '--completed']);
    if (/^Job type: +Completed/m.test(stats)) return { isComplete: true };
    return { isComplete: false, reason: /^Error message: +(.+)$/m.exec(stats)?.[1] ?? 'it was canceled' };
  }

  override async abortBackup(uuid: string): Promise<void> {
    await this.virsh.run(['domjobabort', uuid]);
  }

  override async checkpoints(uuid: string): Promise<string[]> {
    const names = await this.virsh.run(['checkpoint-list', uuid, '--topological', '--name']);
    return names.split('\n').filter((name) => name !== '');
  }

  override checkpointXml(uuid: string, name: string, { withSize }: { withSize: boolean }): Promise<string> {
    return this.virsh.run(['checkpoint-dumpxml', uuid, name, '--no-domain', ...(withSize ? ['--size'] : [])]);
  }

  override async deleteCheckpoint(
    uuid: string,
    name: string,
    { keepBitmap }: { readonly keepBitmap: boolean },
  ): Promise<void> {
    await this.virsh.run(['checkpoint-delete', uuid, name, ...(keepBitmap ? ['--metadata'] : [])]);
  }

  private async begin(uuid: string, documents: readonly (string | undefined)[]): Promise<void> {
    const present = documents.filter((xml) => xml !== undefined);
    await this.virsh.withXmls(present, (files) => ['backup-begin', uuid, ...files, '--reuse-external']);
  }
}
