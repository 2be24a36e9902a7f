import { DomainError } from '@headgate/domain-contracts';
import { domainOf, procedures } from '@headgate/libvirt-rpc';
import {
  BlockOperations,
  diskCopyXml,
  diskSwitchXml,
  LIST_NODES,
  nodeNamesIn,
  readMonitorReply,
  removeNodeCommand,
  type BlockJob,
  type DiskCopy,
  type DiskSwitch,
  type LayerCommit,
} from '../connection/block-operations.js';
import type { RpcLink } from './rpc-link.js';

/** `virDomainSnapshotCreateFlags`: without metadata in libvirt, with files that exist, all or none. */
const SWITCH = 4 | 32 | 128;
const DISK_ONLY = 16;
/** The guest runs while its memory is saved. */
const LIVE = 256;
const QUIESCE = 64;
/** `virDomainBlockCommitFlags` and `virDomainBlockJobAbortFlags`. */
const COMMIT_ACTIVE = 4;
const ABORT_PIVOT = 2;
/** `virDomainBlockCopyFlags`: into a file that exists; of a persistent domain, which loses the job when it stops. */
const COPY_INTO_EXISTING = 2;
const COPY_TRANSIENT = 4;
/** Freezing the file systems of a busy guest takes long. */
const SWITCH_TIMEOUT_MS = 90_000;
/** Writing the memory of a large guest to a slow disk. */
const MEMORY_TIMEOUT_MS = 6 * 60 * 60_000;

export class RpcBlocks extends BlockOperations {
  constructor(private readonly link: RpcLink) {
    super();
  }

  override async switchToOverlays(uuid: string, change: DiskSwitch): Promise<void> {
    const hasMemory = change.memory !== undefined;
    const flags = SWITCH | (hasMemory ? LIVE : DISK_ONLY) | (change.quiesce ? QUIESCE : 0);
    const args = { domain: domainOf(uuid), xml: diskSwitchXml(change), flags };
    const timeoutMs = hasMemory ? MEMORY_TIMEOUT_MS : SWITCH_TIMEOUT_MS;
    await this.link.call(procedures.domainSnapshotCreateXml, args, { timeoutMs, isSlow: true });
  }

  override async nodes(uuid: string): Promise<string[]> {
    return nodeNamesIn(await this.monitor(uuid, LIST_NODES));
  }

  override async removeNode(uuid: string, name: string): Promise<void> {
    readMonitorReply(await this.monitor(uuid, removeNodeCommand(name)));
  }

  private async monitor(uuid: string, command: string): Promise<string> {
    const args = { domain: domainOf(uuid), command, flags: 0 };
    return (await this.link.call(procedures.qemuDomainMonitorCommand, args, { isSlow: true })).reply;
  }

  override async commit(uuid: string, { target, base, top, isActive }: LayerCommit): Promise<void> {
    const flags = isActive ? COMMIT_ACTIVE : 0;
    const args = { domain: domainOf(uuid), disk: target, base, top, bandwidth: 0, flags };
    await this.link.call(procedures.domainBlockCommit, args, { isSlow: true });
  }

  override async job(uuid: string, target: string): Promise<BlockJob | undefined> {
    const args = { domain: domainOf(uuid), path: target, flags: 0 };
    const { isFound, current, end } = await this.link.call(procedures.domainGetBlockJobInfo, args);
    return isFound ? { current, end } : undefined;
  }

  override async copy(uuid: string, copy: DiskCopy): Promise<void> {
    const flags = COPY_INTO_EXISTING | COPY_TRANSIENT;
    const args = { domain: domainOf(uuid), path: copy.target, destination: diskCopyXml(copy), params: [], flags };
    await this.link.call(procedures.domainBlockCopy, args, { isSlow: true });
  }

  override async pull(uuid: string, target: string): Promise<void> {
    const args = { domain: domainOf(uuid), path: target, bandwidth: 0, flags: 0 };
    await this.link.call(procedures.domainBlockPull, args, { isSlow: true });
  }

  override async cancel(uuid: string, target: string): Promise<void> {
    try {
      if (!(await this.job(uuid, target))) return;
      await this.link.call(
        procedures.domainBlockJobAbort,
        { domain: domainOf(uuid), path: target, flags: 0 },
        { isSlow: true },
      );
    } catch (error) {
      if (!DomainError.is(error, 'WRONG_STATE', 'INSTANCE_NOT_FOUND', 'REJECTED_BY_BACKEND')) throw error;
    }
  }

  override async pivot(uuid: string, target: string): Promise<void> {
    const args = { domain: domainOf(uuid), path: target, flags: ABORT_PIVOT };
    await this.link.call(procedures.domainBlockJobAbort, args, { isSlow: true });
  }
}
