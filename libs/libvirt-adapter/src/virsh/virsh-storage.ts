import type { CallOptions } from '../connection/call-options.js';
import { StorageOperations, type PoolState, type VolumeId } from '../connection/storage-operations.js';
import { namesOf } from './virsh-networks.js';
import type { Virsh } from './virsh.js';

/** Uploading a disk of many gigabytes takes long. */
const COPY_TIMEOUT_MS = 6 * 60 * 60_000;

export class VirshStorage extends StorageOperations {
  constructor(private readonly virsh: Virsh) {
    super();
  }

  override async activePools(): Promise<string[]> {
    return namesOf(await this.virsh.run(['pool-list', '--name']));
  }

  override async allPools(): Promise<string[]> {
    return namesOf(await this.virsh.run(['pool-list', '--all', '--name']));
  }

  override async poolState(pool: string): Promise<PoolState> {
    const info = await this.virsh.run(['pool-info', pool, '--bytes']);
    return {
      isActive: /^State:\s+running$/m.test(info),
      capacityBytes: Number(/^Capacity:\s+(\d+)$/m.exec(info)?.[1] ?? 0),
      availableBytes: Number(/^Available:\s+(\d+)$/m.exec(info)?.[1] ?? 0),
    };
  }

  override poolXml(pool: string): Promise<string> {
    return this.virsh.run(['pool-dumpxml', pool]);
  }

  override async definePool(xml: string): Promise<void> {
    await this.virsh.withXml(xml, (file) => ['pool-define', file]);
  }

  override async enablePoolAutostart(pool: string): Promise<void> {
    await this.virsh.run(['pool-autostart', pool]);
  }

  override async buildPool(pool: string): Promise<void> {
    await this.virsh.run(['pool-build', pool]);
  }

  override async startPool(pool: string): Promise<void> {
    await this.virsh.run(['pool-start', pool]);
  }

  override async refreshPool(pool: string): Promise<void> {
    await this.virsh.run(['pool-refresh', pool]);
  }

  override async volumes(pool: string): Promise<string[]> {
    return volumeNames(await this.virsh.run(['vol-list', pool]));
  }

  override volumeXml(volume: VolumeId | string): Promise<string> {
    return this.virsh.run(
      typeof volume === 'string' ? ['vol-dumpxml', volume] : ['vol-dumpxml', volume.name, '--pool', volume.pool],
    );
  }

  override async volumesAt(paths: readonly string[]): Promise<(string | undefined)[]> {
    const outputs = await this.virsh.batch(paths.map((path) => ['vol-dumpxml', path]));
    return outputs.map((xml) => (xml.trim() === '' ? undefined : xml));
  }

  override async volumePaths(volumes: readonly VolumeId[]): Promise<(string | undefined)[]> {
    const outputs = await this.virsh.batch(volumes.map(({ name, pool }) => ['vol-path', name, '--pool', pool]));
    return outputs.map((path) => path.trim() || undefined);
  }

  override async createVolume(pool: string, xml: string, options?: CallOptions): Promise<void> {
    await this.virsh.withXml(xml, (file) => ['vol-create', pool, file], options);
  }

  override async copyVolume({ pool, name }: VolumeId, xml: string, options?: CallOptions): Promise<void> {
    await this.virsh.withXml(xml, (file) => ['vol-create-from', pool, file, name], {
      timeoutMs: COPY_TIMEOUT_MS,
      ...options,
    });
  }

  override async upload(
    { pool, name }: VolumeId,
    file: string,
    { signal, timeoutMs }: CallOptions = {},
  ): Promise<void> {
    await this.virsh.run(['vol-upload', name, file, '--pool', pool], {
      signal,
      timeoutMs: timeoutMs ?? COPY_TIMEOUT_MS,
      isTransfer: true,
    });
  }

  override async download(
    { pool, name }: VolumeId,
    file: string,
    { signal, timeoutMs }: CallOptions = {},
  ): Promise<void> {
    await this.virsh.run(['vol-download', name, file, '--pool', pool], {
      signal,
      timeoutMs: timeoutMs ?? COPY_TIMEOUT_MS,
      isTransfer: true,
    });
  }

  override async resizeVolume({ pool, name }: VolumeId, bytes: number): Promise<void> {
    await this.virsh.run(['vol-resize', name, `${bytes}B`, '--pool', pool]);
  }

  override async deleteVolume({ pool, name }: VolumeId): Promise<void> {
    await this.virsh.run(['vol-delete', name, '--pool', pool]);
  }
}

/** Parses `vol-list`, whose columns are name and path. */
const volumeNames = (table: string): string[] =>
  table
    .split('\n')
    .map((line) => /^\s*(.*?)\s{2,}\/.*$/.exec(line)?.[1] ?? '')
    .filter((name) => name !== '');
