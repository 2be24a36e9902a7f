import { domainOf, procedures } from '@headgate/libvirt-rpc';
import {
  BlockOperations,
  diskSwitchXml,
  type BlockJob,
  type DiskSwitch,
  type LayerCommit,
} from '../connection/block-operations.js';
import type { RpcLink } from './rpc-link.js';

/** `virDomainSnapshotCreateFlags`: without metadata in libvirt, disks only, with files that exist, all or none. */
const SWITCH = 4 | 16 | 32 | 128;
const QUIESCE = 64;
/** `virDomainBlockCommitFlags` and `virDomainBlockJobAbortFlags`. */
const COMMIT_ACTIVE = 4;
const ABORT_PIVOT = 2;
/** Freezing the file systems of a busy guest takes long. */
const SWITCH_TIMEOUT_MS = 90_000;

export class RpcBlocks extends BlockOperations {
  constructor(private readonly link: RpcLink) {
    super();
  }

  override async switchToOverlays(uuid: string, change: DiskSwitch): Promise<void> {
    const flags = SWITCH | (change.quiesce ? QUIESCE : 0);
    const args = { domain: domainOf(uuid), xml: diskSwitchXml(change), flags };
    await this.link.call(procedures.domainSnapshotCreateXml, args, { timeoutMs: SWITCH_TIMEOUT_MS, isSlow: true });
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

  override async pivot(uuid: string, target: string): Promise<void> {
    const args = { domain: domainOf(uuid), path: target, flags: ABORT_PIVOT };
    await this.link.call(procedures.domainBlockJobAbort, args, { isSlow: true });
  }
}
