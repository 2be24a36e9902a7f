import { DomainError } from '@headgate/domain-contracts';
import { domainOf, procedures } from '@headgate/libvirt-rpc';
import {
  BackupOperations,
  backupXml,
  checkpointXml,
  servedBackupXml,
  type BackupOutcome,
  type DiskBackup,
  type ServedBackup,
} from '../connection/backup-operations.js';
import type { RpcLink } from './rpc-link.js';

/** `VIR_DOMAIN_BACKUP_BEGIN_REUSE_EXTERNAL`: with a file that exists. */
const BEGIN_REUSE_EXTERNAL = 1;
/** `VIR_DOMAIN_CHECKPOINT_LIST_TOPOLOGICAL`. */
const LIST_TOPOLOGICAL = 2;
/** `virDomainCheckpointXMLFlags`: without the domain, and with the size of the changes. */
const XML_NO_DOMAIN = 2;
const XML_SIZE = 4;
/** `VIR_DOMAIN_CHECKPOINT_DELETE_METADATA_ONLY`. */
const DELETE_METADATA_ONLY = 2;
/** `VIR_DOMAIN_JOB_STATS_COMPLETED`. */
const STATS_COMPLETED = 1;
/** `VIR_DOMAIN_JOB_COMPLETED` of `virDomainJobType`. */
const JOB_COMPLETED = 3;

export class RpcBackups extends BackupOperations {
  constructor(private readonly link: RpcLink) {
    super();
  }

  override async beginBackup(uuid: string, backup: DiskBackup): Promise<void> {
    await this.begin(uuid, backupXml(backup), checkpointXml(backup));
  }

  override async serveBackup(uuid: string, backup: ServedBackup): Promise<void> {
    await this.begin(uuid, servedBackupXml(backup), checkpointXml(backup));
  }

  override async runningBackup(uuid: string): Promise<string | undefined> {
    try {
      return (await this.link.call(procedures.domainBackupGetXmlDesc, { domain: domainOf(uuid), flags: 0 })).xml;
    } catch (error) {
      if (DomainError.is(error, 'TASK_NOT_FOUND')) return undefined;
      throw error;
    }
  }

  override async backupOutcome(uuid: string): Promise<BackupOutcome> {
    const args = { domain: domainOf(uuid), flags: STATS_COMPLETED };
    const { type, stats } = await this.link.call(procedures.domainGetJobStats, args);
    if (type === JOB_COMPLETED) return { isComplete: true };
    return { isComplete: false, reason: String(stats.get('errmsg') ?? 'it was canceled') };
  }

  override async abortBackup(uuid: string): Promise<void> {
    await this.link.call(procedures.domainAbortJob, { domain: domainOf(uuid) }, { isSlow: true });
  }

  override async checkpoints(uuid: string): Promise<string[]> {
    const args = { domain: domainOf(uuid), needResults: true, flags: LIST_TOPOLOGICAL };
    const { checkpoints } = await this.link.call(procedures.domainListAllCheckpoints, args);
    return checkpoints.map(({ name }) => name);
  }

  override async checkpointXml(uuid: string, name: string, { withSize }: { withSize: boolean }): Promise<string> {
    const args = {
      checkpoint: { name, domain: domainOf(uuid) },
      flags: XML_NO_DOMAIN | (withSize ? XML_SIZE : 0),
    };
    return (await this.link.call(procedures.domainCheckpointGetXmlDesc, args, { isSlow: true })).xml;
  }

  override async deleteCheckpoint(
    uuid: string,
    name: string,
    { keepBitmap }: { readonly keepBitmap: boolean },
  ): Promise<void> {
    const args = { checkpoint: { name, domain: domainOf(uuid) }, flags: keepBitmap ? DELETE_METADATA_ONLY : 0 };
    await this.link.call(procedures.domainCheckpointDelete, args, { isSlow: true });
  }

  private async begin(uuid: string, backup: string, checkpoint: string | undefined): Promise<void> {
    const args = {
      domain: domainOf(uuid),
      backupXml: backup,
      checkpointXml: checkpoint ?? null,
      flags: BEGIN_REUSE_EXTERNAL,
    };
    await this.link.call(procedures.domainBackupBegin, args, { isSlow: true });
  }
}
