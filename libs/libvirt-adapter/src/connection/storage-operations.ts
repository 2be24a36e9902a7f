import type { CallOptions } from './call-options.js';

export interface PoolState {
  readonly isActive: boolean;
  readonly availableBytes: number;
  /** The size of the file system; 0 when it is unknown. */
  readonly capacityBytes: number;
}

export interface VolumeId {
  readonly pool: string;
  readonly name: string;
}

/** Methods throw VOLUME_NOT_FOUND if the pool or volume does not exist. */
export abstract class StorageOperations {
  /** Names of the active pools. */
  abstract activePools(): Promise<string[]>;
  /** Names of all pools, of inactive ones too. */
  abstract allPools(): Promise<string[]>;
  abstract poolState(pool: string): Promise<PoolState>;
  /** https://libvirt.org/formatstorage.html */
  abstract poolXml(pool: string): Promise<string>;
  abstract definePool(xml: string): Promise<void>;
  abstract enablePoolAutostart(pool: string): Promise<void>;
  abstract buildPool(pool: string): Promise<void>;
  abstract startPool(pool: string): Promise<void>;
  /** Finds files that were added or removed without libvirt. */
  abstract refreshPool(pool: string): Promise<void>;

  /** Names of the volumes of a pool. */
  abstract volumes(pool: string): Promise<string[]>;
  /** @param volume by its name in a pool, or by the path of its file */
  abstract volumeXml(volume: VolumeId | string): Promise<string>;
  /** @returns the documents of the volumes at these paths; undefined where no active pool has one */
  abstract volumesAt(paths: readonly string[]): Promise<(string | undefined)[]>;
  /** @returns the paths of volumes; undefined for those that do not exist */
  abstract volumePaths(volumes: readonly VolumeId[]): Promise<(string | undefined)[]>;
  abstract createVolume(pool: string, xml: string, options?: CallOptions): Promise<void>;
  /** Creates a volume with the content of another one of the same pool, without sending it through this process. */
  abstract copyVolume(volume: VolumeId, xml: string, options?: CallOptions): Promise<void>;
  /** Replaces the content of a volume with a file. Transfers wait for each other only, never for short operations. */
  abstract upload(volume: VolumeId, file: string, options?: CallOptions): Promise<void>;
  /** Writes the content of a volume into a file of this machine. */
  abstract download(volume: VolumeId, file: string, options?: CallOptions): Promise<void>;
  /** Makes a volume larger that no running domain uses. */
  abstract resizeVolume(volume: VolumeId, bytes: number): Promise<void>;
  abstract deleteVolume(volume: VolumeId): Promise<void>;
}
