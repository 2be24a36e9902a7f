import { DomainError } from '@headgate/domain-contracts';
import type { IncusApi } from '../api/incus-api.js';
import type { Devices } from '../api/incus-objects.js';

export interface PoolChoice {
  readonly pool: string;
  /** The name of the root disk, which replaces that of the profile; absent when that is in the pool already. */
  readonly rootDevice?: string;
}

/**
 * The storage pool of a new container: the requested one, or else that of the configuration, of the profile `default`,
 * or the first one.
 * @throws DomainError INVALID_INPUT for a pool that the server does not have, NOT_READY without any pool
 */
export async function choosePool(
  api: IncusApi,
  project: string,
  { requested, configured }: { readonly requested: string; readonly configured: string | undefined },
): Promise<PoolChoice> {
  const [pools, profile] = await Promise.all([poolNames(api), rootOfProfile(api, project)]);
  const wanted = requested === '' ? configured : requested;
  if (wanted !== undefined && !pools.includes(wanted)) {
    throw new DomainError(
      'INVALID_INPUT',
      `storageClass: ${api.context} has no storage pool ${wanted}; omit it, or name one of ${pools.join(', ') || 'none'}.`,
    );
  }
  const pool = wanted ?? profile?.pool ?? pools[0];
  if (pool !== undefined) return pool === profile?.pool ? { pool } : { pool, rootDevice: profile?.device ?? 'root' };
  throw new DomainError(
    'NOT_READY',
    `${api.context} has no storage pool; create one there with \`incus storage create default dir\`.`,
  );
}

/** All pools of the server. */
export async function poolNames(api: IncusApi): Promise<string[]> {
  const paths = await api.get<readonly string[]>('/1.0/storage-pools');
  return paths.map((path) => decodeURIComponent(path.split('/').at(-1) ?? ''));
}

async function rootOfProfile(
  api: IncusApi,
  project: string,
): Promise<{ readonly device: string; readonly pool: string | undefined } | undefined> {
  const { devices } = await api.get<{ readonly devices: Devices }>('/1.0/profiles/default', { project });
  const root = Object.entries(devices).find(([, { type, path }]) => type === 'disk' && path === '/');
  return root && { device: root[0], pool: root[1].pool };
}
