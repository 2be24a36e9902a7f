import { DomainError } from '@headgate/domain-contracts';
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
import type { Virsh } from './virsh.js';

/** Freezing the file systems of a busy guest takes long. */
const SWITCH_TIMEOUT_MS = 90_000;
/** Writing the memory of a large guest to a slow disk. */
const MEMORY_TIMEOUT_MS = 6 * 60 * 60_000;

export class VirshBlocks extends BlockOperations {
  constructor(private readonly virsh: Virsh) {
    super();
  }

  override async switchToOverlays(uuid: string, change: DiskSwitch): Promise<void> {
    const hasMemory = change.memory !== undefined;
    const options = [hasMemory ? '--live' : '--disk-only', '--no-metadata', '--atomic', '--reuse-external'];
    if (change.quiesce) options.push('--quiesce');
    await this.virsh.withXml(diskSwitchXml(change), (file) => ['snapshot-create', uuid, file, ...options], {
      timeoutMs: hasMemory ? MEMORY_TIMEOUT_MS : SWITCH_TIMEOUT_MS,
    });
  }

  override async nodes(uuid: string): Promise<string[]> {
    return nodeNamesIn(await this.virsh.run(['qemu-monitor-command', uuid, LIST_NODES]));
  }

  override async removeNode(uuid: string, name: string): Promise<void> {
    readMonitorReply(await this.virsh.run(['qemu-monitor-command', uuid, removeNodeCommand(name)]));
  }

  override async commit(uuid: string, { target, base, top, isActive }: LayerCommit): Promise<void> {
    const active = isActive ? ['--active'] : [];
    await this.virsh.run(['blockcommit', uuid, target, '--base', base, '--top', top, ...active]);
  }

  override async job(uuid: string, target: string): Promise<BlockJob | undefined> {
    const info = await this.virsh.run(['blockjob', uuid, target, '--info', '--raw']);
    const numberOf = (field: string): number => Number(new RegExp(`^\\s*${field}=(\\d+)$`, 'm').exec(info)?.[1] ?? 0);
    return /^\s*type=/m.test(info) ? { current: numberOf('cur'), end: numberOf('end') } : undefined;
  }

  override async copy(uuid: string, copy: DiskCopy): Promise<void> {
    const options = ['--reuse-external', '--transient-job'];
    await this.virsh.withXml(diskCopyXml(copy), (file) => ['blockcopy', uuid, copy.target, '--xml', file, ...options]);
  }

  override async pull(uuid: string, target: string): Promise<void> {
    await this.virsh.run(['blockpull', uuid, target]);
  }

  override async cancel(uuid: string, target: string): Promise<void> {
    try {
      if (!(await this.job(uuid, target))) return;
      await this.virsh.run(['blockjob', uuid, target, '--abort']);
    } catch (error) {
      if (!DomainError.is(error, 'WRONG_STATE', 'INSTANCE_NOT_FOUND', 'REJECTED_BY_BACKEND')) throw error;
    }
  }

  override async pivot(uuid: string, target: string): Promise<void> {
    await this.virsh.run(['blockjob', uuid, target, '--pivot']);
  }
}
