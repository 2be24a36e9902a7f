import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { DomainError, messageOf } from '@headgate/domain-contracts';
import {
  closeConnection,
  procedures,
  RpcCallError,
  type RpcConnection,
  type WirePool,
  type WireVolume,
} from '@headgate/libvirt-rpc';
import type { CallOptions } from '../connection/call-options.js';
import { StorageOperations, type PoolState, type VolumeId } from '../connection/storage-operations.js';
import { Slots } from '../locks/concurrency.js';
import type { RpcLink } from './rpc-link.js';

/** `virConnectListAllStoragePoolsFlags` and `virStoragePoolState`. */
const ACTIVE_POOLS = 2;
const RUNNING = 2;

/** Uploading a disk of many gigabytes takes long. */
const COPY_TIMEOUT_MS = 6 * 60 * 60_000;
const MAX_TRANSFERS = 2;
const READ_CHUNK_BYTES = 1024 ** 2;
/** A storage that is slow to write delays libvirt's answers to pings. */
const TRANSFER_KEEPALIVE = { intervalMs: 10_000, count: 6 };

export class RpcStorage extends StorageOperations {
  private readonly transferSlots = new Slots(MAX_TRANSFERS);

  constructor(private readonly link: RpcLink) {
    super();
  }

  override activePools(): Promise<string[]> {
    return this.pools(ACTIVE_POOLS);
  }

  override allPools(): Promise<string[]> {
    return this.pools(0);
  }

  private async pools(flags: number): Promise<string[]> {
    const { pools } = await this.link.call(procedures.connectListAllStoragePools, { needResults: true, flags });
    return pools.map(({ name }) => name);
  }

  override async poolState(name: string): Promise<PoolState> {
    const pool = await this.find(name);
    const { state, capacity, available } = await this.link.call(procedures.storagePoolGetInfo, { pool });
    return { isActive: state === RUNNING, capacityBytes: capacity, availableBytes: available };
  }

  override async poolXml(name: string): Promise<string> {
    const pool = await this.find(name);
    return (await this.link.call(procedures.storagePoolGetXmlDesc, { pool, flags: 0 })).xml;
  }

  override async definePool(xml: string): Promise<void> {
    await this.link.call(procedures.storagePoolDefineXml, { xml, flags: 0 });
  }

  override async enablePoolAutostart(name: string): Promise<void> {
    await this.link.call(procedures.storagePoolSetAutostart, { pool: await this.find(name), autostart: true });
  }

  override async buildPool(name: string): Promise<void> {
    await this.link.call(procedures.storagePoolBuild, { pool: await this.find(name), flags: 0 }, { isSlow: true });
  }

  override async startPool(name: string): Promise<void> {
    await this.link.call(procedures.storagePoolCreate, { pool: await this.find(name), flags: 0 }, { isSlow: true });
  }

  override async refreshPool(name: string): Promise<void> {
    await this.link.call(procedures.storagePoolRefresh, { pool: await this.find(name), flags: 0 }, { isSlow: true });
  }

  override async volumes(name: string): Promise<string[]> {
    const args = { pool: await this.find(name), needResults: true, flags: 0 };
    const { volumes } = await this.link.call(procedures.storagePoolListAllVolumes, args);
    return volumes.map((volume) => volume.name);
  }

  override async volumeXml(id: VolumeId | string): Promise<string> {
    const volume = typeof id === 'string' ? await this.findByPath(id) : toWire(id);
    return (await this.link.call(procedures.storageVolGetXmlDesc, { volume, flags: 0 })).xml;
  }

  override volumesAt(paths: readonly string[]): Promise<(string | undefined)[]> {
    return Promise.all(paths.map((path) => orUndefined(this.volumeXml(path))));
  }

  override volumePaths(ids: readonly VolumeId[]): Promise<(string | undefined)[]> {
    return Promise.all(ids.map((id) => orUndefined(this.pathOf(toWire(id)))));
  }

  override async createVolume(name: string, xml: string, options?: CallOptions): Promise<void> {
    const pool = await this.find(name);
    await this.link.call(procedures.storageVolCreateXml, { pool, xml, flags: 0 }, { ...options, isSlow: true });
  }

  override async copyVolume(id: VolumeId, xml: string, options?: CallOptions): Promise<void> {
    const args = { pool: await this.find(id.pool), xml, source: toWire(id), flags: 0 };
    await this.link.call(procedures.storageVolCreateXmlFrom, args, {
      timeoutMs: COPY_TIMEOUT_MS,
      ...options,
      isSlow: true,
    });
  }

  override upload(id: VolumeId, file: string, options: CallOptions = {}): Promise<void> {
    return this.transfer('upload', options, async (connection, signal) => {
      const direction = { readable: false, writable: true };
      const stream = await connection.openStream(procedures.storageVolUpload, wholeOf(id), direction, { signal });
      await pipeline(createReadStream(file, { highWaterMark: READ_CHUNK_BYTES }), stream, { signal });
    });
  }

  override download(id: VolumeId, file: string, options: CallOptions = {}): Promise<void> {
    return this.transfer('download', options, async (connection, signal) => {
      const direction = { readable: true, writable: false };
      const stream = await connection.openStream(procedures.storageVolDownload, wholeOf(id), direction, { signal });
      await pipeline(stream, createWriteStream(file, { mode: 0o600 }), { signal });
    });
  }

  /** Uses a connection of its own, so that the content delays nothing else. */
  private async transfer(
    name: 'upload' | 'download',
    options: CallOptions,
    work: (connection: RpcConnection, signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const signal = AbortSignal.any([
      ...(options.signal ? [options.signal] : []),
      AbortSignal.timeout(options.timeoutMs ?? COPY_TIMEOUT_MS),
    ]);
    try {
      await this.transferSlots.run(() => this.withConnection((connection) => work(connection, signal)), signal);
    } catch (error) {
      const isTimeout = signal.aborted && !options.signal?.aborted;
      const reason = signal.aborted ? new RpcCallError(isTimeout ? 'timeout' : 'aborted', `The ${name} ended.`) : error;
      const translated = this.link.translate(reason);
      if (translated instanceof DomainError) throw translated;
      throw new DomainError('BACKEND_FAILED', `The ${name} failed: ${messageOf(error)}`, { cause: error });
    }
  }

  override async resizeVolume(id: VolumeId, capacity: number): Promise<void> {
    const args = { volume: toWire(id), capacity, flags: 0 };
    await this.link.call(procedures.storageVolResize, args, { isSlow: true });
  }

  override async deleteVolume(id: VolumeId): Promise<void> {
    await this.link.call(procedures.storageVolDelete, { volume: toWire(id), flags: 0 }, { isSlow: true });
  }

  private async withConnection(work: (connection: RpcConnection) => Promise<void>): Promise<void> {
    const connection = await this.link.open(TRANSFER_KEEPALIVE);
    try {
      await work(connection);
    } finally {
      await closeConnection(connection);
    }
  }

  private async find(name: string): Promise<WirePool> {
    return (await this.link.call(procedures.storagePoolLookupByName, { name })).pool;
  }

  private async findByPath(path: string): Promise<WireVolume> {
    return (await this.link.call(procedures.storageVolLookupByPath, { path })).volume;
  }

  private async pathOf(volume: WireVolume): Promise<string> {
    return (await this.link.call(procedures.storageVolGetPath, { volume })).path;
  }
}

/** libvirt finds a volume by its pool and name. */
const toWire = ({ pool, name }: VolumeId): WireVolume => ({ pool, name, key: '' });

const wholeOf = (id: VolumeId) => ({ volume: toWire(id), offset: 0, length: 0, flags: 0 });

/** A volume that does not exist, or whose pool has stopped, is not an error. */
async function orUndefined<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (DomainError.is(error, 'BACKEND_UNREACHABLE', 'BACKEND_FORBIDDEN', 'BACKEND_TIMEOUT')) throw error;
    return undefined;
  }
}
