import { unlink } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { DomainError } from '@headgate/domain-contracts';
import type { DomainDescription } from '../domain-xml/domain-description.js';
import type { OwnedVolume } from '../domain-xml/instance-metadata.js';
import type { DomainFinder } from '../domains/domain-finder.js';
import type { BaseImages } from '../storage/base-images.js';
import { DiskUsage } from '../storage/disk-usage.js';
import type { StoragePool } from '../storage/storage-pool.js';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import type { DomainEditor, EditableDomain } from '../domains/domain-editor.js';

export interface RemovalPlan {
  readonly domain: EditableDomain;
  /** Volumes to remove. */
  readonly volumes: readonly OwnedVolume[];
  /** Paths of disks to keep: not created by the service, or used by another domain. */
  readonly kept: readonly string[];
  /** Names of the domain's own layers that clones need. */
  readonly shared: readonly string[];
}

const REMOVAL_TIMEOUT_MS = 60_000;

/** Removes domains with the volumes that were created for them, and nothing else. */
export class DomainRemover {
  constructor(
    private readonly connection: LibvirtConnection,
    private readonly finder: DomainFinder,
    private readonly pool: StoragePool,
    private readonly editor: DomainEditor,
    private readonly layers?: Pick<BaseImages, 'adoptLayers'>,
  ) {}

  async plan(uuid: string): Promise<RemovalPlan> {
    const domain = await this.editor.read(uuid);
    const owned = ownVolumes(domain.description, this.pool.name);
    if (owned.length === 0) return { domain, volumes: [], kept: diskPaths(domain.description), shared: [] };
    const folder = await this.pool.path().catch(() => undefined);
    if (folder === undefined) return { domain, volumes: [], kept: diskPaths(domain.description), shared: [] };
    const usage = await DiskUsage.read(this.connection, this.finder);
    const moved = await this.movedVolumes(domain.description);
    const pathOf = (volume: OwnedVolume): string => moved.get(volume) ?? `${folder}/${volume.name}`;
    const overlays = owned.flatMap((volume) => usage.overlaysOf(pathOf(volume), uuid));
    const volumes = [...this.toVolumes(overlays, folder), ...owned, ...moved.keys()].filter(
      (volume) => !usage.isUsedByOthers(pathOf(volume), uuid),
    );
    const removedPaths = new Set(volumes.map(pathOf));
    return {
      domain,
      volumes,
      kept: diskPaths(domain.description).filter((path) => !removedPaths.has(path)),
      shared: owned
        .filter((volume) => volume.role === 'layer' && !removedPaths.has(pathOf(volume)))
        .map(({ name }) => name),
    };
  }

  /**
   * Removes the volumes before the domain that lists them, so that an interrupted removal can be repeated without
   * orphans.
   */
  async remove(uuid: string): Promise<void> {
    const { domain, volumes, shared } = await this.plan(uuid);
    const { description, isActive, isPersistent } = domain;
    const { domains } = this.connection;
    const options = { timeoutMs: REMOVAL_TIMEOUT_MS };
    if (isActive) await this.tolerating(domains.destroy(uuid, options), 'WRONG_STATE', 'INSTANCE_NOT_FOUND');
    await this.removeVolumes(volumes);
    await this.layers?.adoptLayers(shared);
    if (isPersistent) await this.tolerating(domains.undefine(uuid, options), 'INSTANCE_NOT_FOUND');
    await this.removeSocket(description, uuid);
  }

  /** Removes the volumes of a stopped domain, which stays. */
  async removeDisks(uuid: string): Promise<void> {
    await this.removeVolumes((await this.plan(uuid)).volumes);
  }

  /**
   * The disks that were moved to another pool, with their paths. Both the devices and the metadata of the domain have
   * to list them.
   */
  private async movedVolumes({ uuid, metadata, disks }: DomainDescription): Promise<Map<OwnedVolume, string>> {
    const listed = metadata.owner === uuid ? metadata.volumes.filter(({ pool }) => pool !== this.pool.name) : [];
    const paths = listed.length === 0 ? [] : await this.connection.storage.volumePaths(listed);
    return new Map(
      listed.flatMap((volume, i) => {
        const path = paths[i];
        return path !== undefined && disks.some((disk) => disk.path === path) ? [[volume, path] as const] : [];
      }),
    );
  }

  private async removeVolumes(volumes: readonly OwnedVolume[]): Promise<void> {
    if (volumes.length === 0) return;
    // Refreshing the pool finds files that libvirt did not create as volumes: the serial log and its rotated parts.
    const present = await this.pool.volumes();
    for (const { pool, name, role } of volumes) {
      if (pool !== this.pool.name) {
        await this.tolerating(this.connection.storage.deleteVolume({ pool, name }), 'VOLUME_NOT_FOUND');
        continue;
      }
      const parts =
        role === 'serial-log' ? present.filter((entry) => entry === name || isRotated(entry, name)) : [name];
      for (const part of parts) await this.pool.remove(part);
    }
  }

  /** QEMU removes its sockets, unless it was killed. */
  private async removeSocket({ serial, metadata }: DomainDescription, uuid: string): Promise<void> {
    const isOurs = metadata.owner === uuid && serial?.type === 'unix' && serial.path?.endsWith(`/${uuid}.serial`);
    if (isOurs && serial.path !== undefined) await unlink(serial.path).catch(() => undefined);
  }

  /** The overlays that are in the pool. libvirt creates external snapshots next to their base. */
  private toVolumes(paths: readonly string[], folder: string): OwnedVolume[] {
    return paths
      .filter((path) => dirname(path) === folder)
      .map((path) => ({ pool: this.pool.name, name: basename(path), role: 'overlay' }));
  }

  private async tolerating(
    operation: Promise<void>,
    ...codes: ('WRONG_STATE' | 'INSTANCE_NOT_FOUND' | 'VOLUME_NOT_FOUND')[]
  ): Promise<void> {
    try {
      await operation;
    } catch (error) {
      if (!DomainError.is(error, ...codes)) throw error;
    }
  }
}

/**
 * Volumes that were created for this domain: listed in metadata with its UUID, in the service's pool. Copies of a
 * domain contain its metadata as well.
 */
const ownVolumes = ({ uuid, metadata }: DomainDescription, pool: string): readonly OwnedVolume[] =>
  metadata.owner === uuid
    ? metadata.volumes.filter((volume) => volume.pool === pool && !volume.name.includes('/'))
    : [];

const diskPaths = ({ disks }: DomainDescription): string[] =>
  disks
    .map(({ path, pool, volume }) => path ?? (pool === undefined ? '' : `${pool}/${volume}`))
    .filter((path) => path !== '');

/** virtlogd names rotated logs `name.0`, `name.1`, … */
const isRotated = (entry: string, name: string): boolean =>
  entry.startsWith(`${name}.`) && /^\d+$/.test(entry.slice(name.length + 1));
