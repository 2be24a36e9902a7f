import { unlink } from 'node:fs/promises';
import { DomainError } from '@headgate/domain-contracts';
import type { DomainDescription } from '../domain-xml/domain-description.js';
import type { OwnedVolume } from '../domain-xml/instance-metadata.js';
import type { DomainFinder } from '../domains/domain-finder.js';
import type { StoragePool } from '../storage/storage-pool.js';
import type { Virsh } from '../virsh/virsh.js';
import type { DomainEditor, EditableDomain } from './domain-editor.js';

export interface RemovalPlan {
  readonly domain: EditableDomain;
  /** Volumes that go with it. */
  readonly volumes: readonly OwnedVolume[];
  /** Paths of disks that stay, because somebody else made them or still uses them. */
  readonly kept: readonly string[];
}

/** Removes domains with what was made for them, and nothing that was not. */
export class DomainRemover {
  constructor(
    private readonly virsh: Virsh,
    private readonly finder: DomainFinder,
    private readonly pool: StoragePool,
    private readonly editor: DomainEditor,
  ) {}

  async plan(uuid: string): Promise<RemovalPlan> {
    const domain = await this.editor.read(uuid);
    const noted = ownVolumes(domain.description, this.pool.name);
    if (noted.length === 0) return { domain, volumes: [], kept: diskPaths(domain.description) };
    const folder = await this.pool.path().catch(() => undefined);
    if (folder === undefined) return { domain, volumes: [], kept: diskPaths(domain.description) };
    const others = await this.descriptionsOfOthers(uuid);
    const pathOf = ({ name }: OwnedVolume): string => `${folder}/${name}`;
    // Whoever names the path anywhere, as a disk, a disc or what a disk is based on, would lose it.
    const volumes = noted.filter((volume) => !others.some((xml) => xml.includes(pathOf(volume))));
    const going = new Set(volumes.map(pathOf));
    return { domain, volumes, kept: diskPaths(domain.description).filter((path) => !going.has(path)) };
  }

  /**
   * Volumes go before the domain that remembers them: when this is interrupted, it can be done again and nothing is orphaned.
   */
  async remove(uuid: string): Promise<void> {
    const { domain, volumes } = await this.plan(uuid);
    const { description, isActive, isPersistent } = domain;
    if (isActive) await this.tolerating(['destroy', uuid], 'WRONG_STATE', 'INSTANCE_NOT_FOUND');
    await this.removeVolumes(volumes);
    if (isPersistent) {
      const leftovers = ['--managed-save', '--snapshots-metadata', '--checkpoints-metadata', '--nvram'];
      await this.tolerating(['undefine', uuid, ...leftovers], 'INSTANCE_NOT_FOUND');
    }
    await this.removeSocket(description, uuid);
  }

  private async removeVolumes(volumes: readonly OwnedVolume[]): Promise<void> {
    if (volumes.length === 0) return;
    // A look at the folder finds what was written beside libvirt: the serial log and its older parts.
    const present = await this.pool.volumes();
    for (const { name, role } of volumes) {
      const parts =
        role === 'serial-log' ? present.filter((entry) => entry === name || isRotated(entry, name)) : [name];
      for (const part of parts) await this.pool.remove(part);
    }
  }

  /** QEMU removes its own; one that was killed does not. */
  private async removeSocket({ serial, metadata }: DomainDescription, uuid: string): Promise<void> {
    const isOurs = metadata.owner === uuid && serial?.type === 'unix' && serial.path?.endsWith(`/${uuid}.serial`);
    if (isOurs && serial.path !== undefined) await unlink(serial.path).catch(() => undefined);
  }

  private async descriptionsOfOthers(uuid: string): Promise<string[]> {
    const others = (await this.finder.all()).filter((domain) => domain.uuid !== uuid);
    return this.virsh.batch(others.flatMap((domain) => [['dumpxml', domain.uuid], ['dumpxml', '--inactive', domain.uuid]])); // prettier-ignore
  }

  private async tolerating(args: readonly string[], ...codes: ('WRONG_STATE' | 'INSTANCE_NOT_FOUND')[]): Promise<void> {
    try {
      await this.virsh.run(args, { timeoutMs: 60_000 });
    } catch (error) {
      if (!DomainError.is(error, ...codes)) throw error;
    }
  }
}

/** Volumes that were made for this very domain: noted by the service, for this UUID, in its own pool. A copied domain copies the note too. */
const ownVolumes = ({ uuid, metadata }: DomainDescription, pool: string): readonly OwnedVolume[] =>
  metadata.owner === uuid
    ? metadata.volumes.filter((volume) => volume.pool === pool && !volume.name.includes('/'))
    : [];

const diskPaths = ({ disks }: DomainDescription): string[] =>
  disks
    .map(({ path, pool, volume }) => path ?? (pool === undefined ? '' : `${pool}/${volume}`))
    .filter((path) => path !== '');

/** virtlogd keeps older parts as `name.0`, `name.1`, … */
const isRotated = (entry: string, name: string): boolean =>
  entry.startsWith(`${name}.`) && /^\d+$/.test(entry.slice(name.length + 1));
