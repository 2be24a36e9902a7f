import { constants } from 'node:fs';
import { access, chmod, chown, copyFile, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DomainError, formatBytes, SystemClock, type Clock, type Refusal } from '@headgate/domain-contracts';
import type { CallOptions } from '../connection/call-options.js';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import type { PoolState, StorageOperations } from '../connection/storage-operations.js';
import { formatXml } from '../xml/xml.js';
import { findFilePool } from './file-pool.js';
import { describeVolume, type ExistingVolume } from './find-volume.js';
import { isRemote } from '../host/host.js';
import { isLockName } from './lock-name.js';
import { fileSystemOf, readPoolSpace } from './pool-space.js';

/** The storage pool for volumes that this service creates. */
export const POOL_NAME = 'headgate';

/**
 * The directory pool for the service's volumes. Names of volumes that the service created contain part of their
 * domain's UUID.
 */
export class StoragePool {
  constructor(
    private readonly connection: LibvirtConnection,
    readonly name: string,
    /** Location of the pool if it has to be created. */
    private readonly defaultPath: string,
    private readonly clock: Pick<Clock, 'delay'> = new SystemClock(),
  ) {}

  /** Its space is that of libvirt's last refresh. @returns undefined when the pool does not exist */
  async state(): Promise<PoolState | undefined> {
    try {
      return await this.storage.poolState(this.name);
    } catch (error) {
      if (DomainError.is(error, 'VOLUME_NOT_FOUND')) return undefined;
      throw error;
    }
  }

  /**
   * The state with the present space, or that of the file system on which the pool will be created; undefined where
   * neither is known.
   */
  async space(): Promise<PoolState | undefined> {
    const state = await this.state();
    if (state?.isActive) return readPoolSpace(this.connection, this.name);
    return isRemote(this.connection.uri) ? state : fileSystemOf(this.defaultPath);
  }

  /** Creates or starts the pool if necessary. */
  async ensure(): Promise<void> {
    const state = await this.state();
    if (state?.isActive) return;
    if (!state) {
      // The parent may be a private folder of this user, which libvirt must be able to traverse.
      await mkdir(this.defaultPath, { recursive: true, mode: 0o711 }).catch(() => undefined);
      await ignoring('ALREADY_EXISTS', this.storage.definePool(poolXml(this.name, this.defaultPath)));
      await this.storage.enablePoolAutostart(this.name);
    }
    await this.storage.buildPool(this.name);
    await this.storage.startPool(this.name).catch(async (error: unknown) => {
      // Another client may have started it meanwhile.
      if (!(await this.state())?.isActive) throw error;
    });
  }

  async path(): Promise<string> {
    const xml = await this.storage.poolXml(this.name);
    return /<path>([^<]+)<\/path>/.exec(xml)?.[1] ?? this.defaultPath;
  }

  /** The path, or the one that the pool will get when it is created. */
  async futurePath(): Promise<string> {
    return (await this.state()) ? this.path() : this.defaultPath;
  }

  /** Another active pool whose volumes are files, or why there is none; of its own name, this pool. */
  async other(name: string): Promise<StoragePool | Refusal> {
    if (name === this.name) return this;
    const found = await findFilePool(this.storage, name);
    return 'code' in found ? found : new StoragePool(this.connection, name, found.path, this.clock);
  }

  /** Creates a blank, thinly provisioned disk. */
  async createBlank(volume: string, bytes: number, format: 'qcow2' | 'raw' = 'qcow2'): Promise<void> {
    await this.storage.createVolume(this.name, volumeXml({ name: volume, bytes, format, isThin: true }));
  }

  /**
   * Creates a folder that only its owner enters, or uses the one that exists.
   * @param owner default: the user of libvirt
   */
  async createPrivateFolder(volume: string, owner?: VolumeOwner): Promise<void> {
    const xml = folderXml(volume, owner);
    await ignoring('ALREADY_EXISTS', this.storage.createVolume(this.name, xml));
    const found = await this.storage.volumeXml({ pool: this.name, name: volume });
    const isPrivate = /^<volume type=['"]dir['"]/.test(found.trim()) && /<mode>0?700<\/mode>/.test(found);
    const isOwned = owner === undefined || found.includes(`<owner>${owner.uid}</owner>`);
    if (isPrivate && isOwned) return;
    throw new DomainError(
      'WRONG_STATE',
      `${volume} in the storage pool ${this.name} is not a private folder of QEMU's user: delete it.`,
    );
  }

  /**
   * Checks that a file fits into the pool and leaves space for the other volumes to grow.
   * @throws DomainError INSUFFICIENT_STORAGE
   */
  async checkSpace(bytes: number, watermarkBytes: number): Promise<void> {
    const state = await this.space();
    if (!state?.isActive || state.availableBytes - bytes >= watermarkBytes) return;
    throw new DomainError(
      'INSUFFICIENT_STORAGE',
      `The storage pool ${this.name} has ${formatBytes(state.availableBytes)} free, not enough for ${formatBytes(bytes)}: free some space on this machine.`,
    );
  }

  /** Creates a volume with the content of a file. libvirt detects its format from the content. */
  async createFrom(volume: string, file: string, { signal }: CallOptions = {}): Promise<void> {
    await this.storage.createVolume(this.name, volumeXml({ name: volume, bytes: 0, format: 'raw' }), { signal });
    await this.storage.upload({ pool: this.name, name: volume }, file, { signal });
  }

  /** Creates a disk whose content is that of another volume until the guest changes it. */
  async createOverlay(volume: string, bytes: number, backing: { path: string; format: string }): Promise<void> {
    await this.storage.createVolume(this.name, volumeXml({ name: volume, bytes, format: 'qcow2', backing }));
  }

  /** Creates a raw volume with the content of another one. */
  async copy(volume: string, from: string): Promise<void> {
    const { bytes } = await this.describe(from);
    await this.storage.copyVolume({ pool: this.name, name: from }, volumeXml({ name: volume, bytes, format: 'raw' }));
  }

  /** @throws DomainError VOLUME_NOT_FOUND */
  async describe(volume: string): Promise<ExistingVolume> {
    return describeVolume(await this.storage.volumeXml({ pool: this.name, name: volume }));
  }

  /** Whether libvirt knows a volume of this name. */
  async has(volume: string): Promise<boolean> {
    const [path] = await this.storage.volumePaths([{ pool: this.name, name: volume }]);
    return path !== undefined;
  }

  /**
   * Turns a private file into a volume of the pool's owner. It appears in one step and complete if this process may
   * write to the folder of the pool: by renaming the file, or by a copy that shares its blocks where the file system
   * can. Otherwise libvirt copies it.
   */
  async moveInto(
    volume: string,
    file: string,
    options: CallOptions & { readonly watermarkBytes: number },
  ): Promise<void> {
    const folder = await this.path();
    if (await placeFile(file, folder, volume)) return this.refresh();
    await this.checkSpace((await stat(file)).size, options.watermarkBytes);
    await this.createFrom(volume, file, options);
  }

  /**
   * Closes volumes to other users that earlier versions of the service have left open. Those of another machine are
   * left alone.
   */
  async makePrivate(volumes: readonly string[]): Promise<void> {
    if (volumes.length === 0 || isRemote(this.connection.uri)) return;
    const folder = await this.path();
    for (const volume of volumes) {
      const handle = await open(join(folder, volume), NO_LINK).catch(() => undefined);
      // Only the owner of a file and root may do that.
      await handle?.chmod(VOLUME_MODE).catch(() => undefined);
      await handle?.close();
    }
  }

  /**
   * Names of the empty volumes that are locks of all services, see `HostLock`. None if the pool does not exist or is
   * inactive.
   */
  async lockNames(): Promise<string[]> {
    try {
      return (await this.storage.volumes(this.name)).filter(isLockName);
    } catch (error) {
      if (DomainError.is(error, 'VOLUME_NOT_FOUND', 'WRONG_STATE')) return [];
      throw error;
    }
  }

  async addLock(name: string): Promise<void> {
    const xml = volumeXml({ name, bytes: 0, format: 'raw' });
    try {
      await this.storage.createVolume(this.name, xml);
    } catch (error) {
      if (!DomainError.is(error, 'VOLUME_NOT_FOUND', 'WRONG_STATE')) throw error;
      await this.ensure();
      await this.storage.createVolume(this.name, xml);
    }
  }

  async removeLock(name: string): Promise<void> {
    await this.remove(name);
  }

  /** Removes a volume; a missing volume is not an error. */
  async remove(volume: string): Promise<void> {
    await ignoring('VOLUME_NOT_FOUND', this.storage.deleteVolume({ pool: this.name, name: volume }));
  }

  /**
   * Names of the volumes after refreshing the pool from its folder, which libvirt refuses while a volume is being
   * written.
   */
  async volumes(): Promise<string[]> {
    await this.refresh();
    return (await this.storage.volumes(this.name)).filter((name) => !isLockName(name));
  }

  /**
   * Finds files that were added, removed or resized without libvirt, which refuses that while a volume is being
   * created.
   */
  async refresh(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.storage.refreshPool(this.name);
      } catch (error) {
        if (!DomainError.is(error, 'BUSY') || attempt === MAX_REFRESHES) throw error;
        // Creating a lock takes milliseconds.
        await this.clock.delay(attempt <= SHORT_REFRESHES ? SHORT_REFRESH_INTERVAL_MS : REFRESH_INTERVAL_MS);
      }
    }
  }

  private get storage(): StorageOperations {
    return this.connection.storage;
  }
}

/** A transfer of another VM takes seconds, or minutes. */
const REFRESH_INTERVAL_MS = 500;
const MAX_REFRESHES = 240;
const SHORT_REFRESHES = 5;
const SHORT_REFRESH_INTERVAL_MS = 20;

/**
 * Moves a file into a folder, where it appears complete under its name.
 * @returns false if this process may not write there
 */
async function placeFile(file: string, folder: string, name: string): Promise<boolean> {
  const isRoot = process.getuid?.() === 0;
  const prepare = async (path: string): Promise<void> => {
    await chmod(path, VOLUME_MODE);
    // The file may belong to the unprivileged user who wrote it.
    if (!isRoot) return;
    const { uid, gid } = await stat(folder);
    await chown(path, uid, gid);
  };
  const copy = join(folder, `${name}${PARTIAL_SUFFIX}`);
  try {
    await access(folder, constants.W_OK);
    await prepare(file);
    await rename(file, join(folder, name));
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EXDEV') return false;
  }
  try {
    await copyFile(file, copy, constants.COPYFILE_FICLONE);
    await prepare(copy);
    await rename(copy, join(folder, name));
    return true;
  } catch {
    await rm(copy, { force: true });
    return false;
  }
}

/** Suffix of a file that is not complete yet. */
export const PARTIAL_SUFFIX = '.partial';
/**
 * The mode of the volumes that libvirt creates. Before a guest starts, libvirt gives all files of its disks to QEMU's
 * user; a session daemon runs QEMU as the owner of the folder.
 */
const VOLUME_MODE = 0o600;
const NO_LINK = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

async function ignoring(code: 'ALREADY_EXISTS' | 'VOLUME_NOT_FOUND', operation: Promise<void>): Promise<void> {
  try {
    await operation;
  } catch (error) {
    if (!DomainError.is(error, code)) throw error;
  }
}

const poolXml = (name: string, path: string): string => formatXml({ pool: { '@type': 'dir', name, target: { path } } });

/** A user and a group by their numbers. */
export interface VolumeOwner {
  readonly uid: number;
  readonly gid: number;
}

const folderXml = (name: string, owner?: VolumeOwner): string =>
  formatXml({
    volume: {
      name,
      capacity: { '@unit': 'bytes', '#text': '0' },
      target: {
        format: { '@type': 'dir' },
        permissions: { mode: '0700', ...(owner && { owner: String(owner.uid), group: String(owner.gid) }) },
      },
    },
  });

interface NewVolume {
  readonly name: string;
  /** Its virtual size. */
  readonly bytes: number;
  readonly format: 'qcow2' | 'raw';
  /** libvirt reserves the space of a raw volume otherwise. */
  readonly isThin?: boolean;
  readonly backing?: { readonly path: string; readonly format: string };
}

/** https://libvirt.org/formatstorage.html#storage-volume-xml */
const volumeXml = ({ name, bytes, format, isThin = false, backing }: NewVolume): string =>
  formatXml({
    volume: {
      name,
      capacity: { '@unit': 'bytes', '#text': String(bytes) },
      ...(isThin && { allocation: { '@unit': 'bytes', '#text': '0' } }),
      // Only images of version 3 can record the changes since a checkpoint.
      target: { format: { '@type': format }, ...(format === 'qcow2' && { compat: '1.1' }) },
      ...(backing && { backingStore: { path: backing.path, format: { '@type': backing.format } } }),
    },
  });

/**
 * Next to the images of libvirt's default pool, or in a private folder for a session daemon, which can't write there.
 */
export const defaultPoolPath = (uri: string, privateFolder: string): string =>
  /\/session(?:\?|$)/.test(uri) ? `${privateFolder}/images` : '/var/lib/libvirt/images/headgate';
