import { DomainError } from '@headgate/domain-contracts';
import { attribute, element, parseXml, text } from '../xml/xml.js';
import { isLockName } from './lock-name.js';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';

export interface ExistingVolume {
  readonly path: string;
  /** `qcow2`, `raw`, … */
  readonly format: string;
  readonly bytes: number;
}

export interface FoundVolume extends ExistingVolume {
  readonly pool: string;
  readonly name: string;
  /** The file that it is based on. */
  readonly backingPath?: string;
}

/**
 * Finds a volume in libvirt's active pools by its name, or by `pool/name`. The file extension may be omitted.
 * @param ownPool the preferred pool
 * @throws DomainError VOLUME_NOT_FOUND, CONFLICT when several pools have a volume of that name
 */
export async function findVolume(connection: LibvirtConnection, claim: string, ownPool: string): Promise<FoundVolume> {
  const allPools = await connection.storage.activePools();
  // Names of volumes contain no slash, names of pools neither.
  const [name, pool] = claim.split('/').reverse() as [string, string | undefined];
  const pools = pool === undefined ? allPools : allPools.filter((candidate) => candidate === pool);
  const volumes = await Promise.all(pools.map((pool) => volumesOf(connection, pool)));
  const found = pools.flatMap((pool, i) =>
    (volumes[i] ?? [])
      .filter((volume) => volume === name || volume.replace(/\.(qcow2|img|raw)$/, '') === name)
      .map((volume) => ({ pool, name: volume })),
  );
  const exact = found.filter((volume) => volume.name === name);
  const own = (exact.length > 0 ? exact : found).filter(({ pool }) => pool === ownPool);
  const candidates = own.length > 0 ? own : exact.length > 0 ? exact : found;
  const [volume, other] = candidates;
  if (!volume) throw new DomainError('VOLUME_NOT_FOUND', `There is no volume ${claim} in a storage pool of libvirt.`);
  if (other) {
    const locations = candidates.map(({ pool, name }) => `${pool}/${name}`).join(', ');
    throw new DomainError(
      'CONFLICT',
      `Several volumes are named ${claim} (${locations}): choose one by its pool, as in ${locations.split(', ')[0]}.`,
    );
  }
  return { ...describeVolume(await connection.storage.volumeXml(volume)), ...volume };
}

/** @param xml of the volume */
export function describeVolume(xml: string): Omit<FoundVolume, 'pool' | 'name'> {
  const volume = element(parseXml(xml), 'volume');
  const target = element(volume, 'target');
  const backingPath = text(element(volume, 'backingStore'), 'path');
  return {
    path: text(target, 'path') ?? '',
    format: attribute(element(target, 'format'), 'type') ?? 'raw',
    bytes: Number(text(volume, 'capacity') ?? 0),
    ...(backingPath !== undefined && { backingPath }),
  };
}

/** A pool that was stopped or removed meanwhile has no volumes. */
async function volumesOf({ storage }: LibvirtConnection, pool: string): Promise<string[]> {
  try {
    return (await storage.volumes(pool)).filter((name) => !isLockName(name));
  } catch (error) {
    if (DomainError.is(error, 'BACKEND_UNREACHABLE', 'BACKEND_FORBIDDEN', 'BACKEND_TIMEOUT')) throw error;
    return [];
  }
}
