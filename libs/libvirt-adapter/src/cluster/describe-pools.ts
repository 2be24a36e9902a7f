import { dirname } from 'node:path';
import { DomainError, type ClusterStorage } from '@headgate/domain-contracts';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { isLockName } from '../storage/lock-name.js';
import { readPoolSpace } from '../storage/pool-space.js';
import { attribute, element, parseXml, text } from '../xml/xml.js';
import type { ReadDomain } from './read-domains.js';

interface PoolReading {
  readonly domains: readonly ReadDomain[];
  readonly defaultPool: string;
}

/** All pools with their space, and the domains whose disks are in them. */
export async function describePools(connection: LibvirtConnection, reading: PoolReading): Promise<ClusterStorage[]> {
  const names = (await connection.storage.allPools()).sort();
  const pools = await Promise.all(names.map((name) => describePool(connection, name, reading)));
  return pools.filter((pool) => pool !== undefined);
}

/** @returns undefined for a pool that was removed meanwhile */
async function describePool(
  connection: LibvirtConnection,
  name: string,
  { domains, defaultPool }: PoolReading,
): Promise<ClusterStorage | undefined> {
  try {
    const [xml, space] = await Promise.all([connection.storage.poolXml(name), readPoolSpace(connection, name)]);
    const pool = element(parseXml(xml), 'pool');
    const path = text(element(pool, 'target'), 'path') ?? '';
    const { isActive, availableBytes, capacityBytes } = space;
    const isKnown = isActive && capacityBytes > 0;
    const volumes = isActive ? (await connection.storage.volumes(name)).filter((volume) => !isLockName(volume)) : [];
    return {
      kind: 'pool',
      name,
      type: attribute(pool, 'type') ?? 'unknown',
      isDefault: name === defaultPool,
      isActive,
      capacityBytes: isKnown ? capacityBytes : null,
      allocatedBytes: isKnown ? capacityBytes - availableBytes : null,
      freeBytes: isKnown ? availableBytes : null,
      spaceUnknown: isKnown ? '' : isActive ? 'libvirt reports no size of this pool.' : 'The pool is not active.',
      volumes: isActive ? volumes.length : null,
      canExpand: isActive,
      claimModes: [],
      segments: [],
      users: domains.filter((domain) => isIn(domain, name, path)).map(({ ref }) => ref),
    };
  } catch (error) {
    if (DomainError.is(error, 'VOLUME_NOT_FOUND')) return undefined;
    throw error;
  }
}

/** A pool does not contain the folders in its folder. */
const isIn = ({ description: { disks } }: ReadDomain, pool: string, path: string): boolean =>
  disks.some((disk) => disk.pool === pool || (disk.path !== undefined && dirname(disk.path) === path));
