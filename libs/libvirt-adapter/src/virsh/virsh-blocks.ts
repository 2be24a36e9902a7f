import {
  BlockOperations,
  diskSwitchXml,
  type BlockJob,
  type DiskSwitch,
  type LayerCommit,
} from '../connection/block-operations.js';
import type { Virsh } from './virsh.js';

/** Freezing the file systems of a busy guest takes long. */
const SWITCH_TIMEOUT_MS = 90_000;

export class VirshBlocks extends BlockOperations {
  constructor(private readonly virsh: Virsh) {
    super();
  }

  override async switchToOverlays(uuid: string, change: DiskSwitch): Promise<void> {
    const options = ['--disk-only', '--no-metadata', '--atomic', '--reuse-external'];
    if (change.quiesce) options.push('--quiesce');
    await this.virsh.withXml(diskSwitchXml(change), (file) => ['snapshot-create', uuid, file, ...options], {
      timeoutMs: SWITCH_TIMEOUT_MS,
    });
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

  override async pivot(uuid: string, target: string): Promise<void> {
    await this.virsh.run(['blockjob', uuid, target, '--pivot']);
  }
}
