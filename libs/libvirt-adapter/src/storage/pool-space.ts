import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import type { PoolState } from '../connection/storage-operations.js';
import { isRemote } from '../host/host.js';

/** Free space without which nothing is created in a pool, be it the smallest: libvirt and QEMU need it for metadata. */
export const POOL_FLOOR_BYTES = 64 * 1024 ** 2;

/**
 * The state of a pool with the space that it has now. libvirt's own figure is as old as the last refresh of the pool:
 * other programs may have filled the disk since, or the operator has enlarged it.
 * @throws DomainError VOLUME_NOT_FOUND
 */
export async function readPoolSpace({ uri, storage }: LibvirtConnection, pool: string): Promise<PoolState> {
  const state = await storage.poolState(pool);
  if (!state.isActive) return state;
  const path = /<path>([^<]+)<\/path>/.exec(await storage.poolXml(pool))?.[1];
  const measured = isRemote(uri) || path === undefined ? undefined : await measure(path);
  if (measured) return measured;
  // A volume that is being written delays the refresh, and its process notices a full disk.
  await storage.refreshPool(pool).catch(() => undefined);
  return storage.poolState(pool);
}

/** The file system on which a folder is or will be created: the closest folder that exists decides. */
export async function fileSystemOf(path: string): Promise<PoolState | undefined> {
  return (await measure(path)) ?? (path === dirname(path) ? undefined : fileSystemOf(dirname(path)));
}

async function measure(path: string): Promise<PoolState | undefined> {
  try {
    const { bavail, blocks, bsize } = await statfs(path);
    return { isActive: true, availableBytes: bavail * bsize, capacityBytes: blocks * bsize };
  } catch {
    return undefined;
  }
}
