import { DomainError, type ClusterStorage } from '@headgate/domain-contracts';
import type { IncusApi } from '../api/incus-api.js';
import type { InstanceObject } from '../api/incus-objects.js';
import { usersOf } from './users-of.js';

interface PoolObject {
  readonly name: string;
  readonly driver: string;
  readonly status: string;
  readonly used_by: readonly string[] | null;
}

interface PoolResources {
  readonly space: { readonly used: number; readonly total: number };
}

const PROFILES = '/1.0/profiles/';

/** All pools with their space, and the instances that use them. */
export async function describePools(
  api: IncusApi,
  instances: readonly InstanceObject[],
  defaultPool: string,
): Promise<ClusterStorage[]> {
  const pools = await api.get<readonly PoolObject[]>('/1.0/storage-pools', { recursion: 1 });
  const described = await Promise.all(
    pools.map(async ({ name, driver, status, used_by: usedBy }): Promise<ClusterStorage> => {
      const space = await spaceOf(api, name);
      const isKnown = space !== undefined && space.total > 0;
      return {
        kind: 'pool',
        name,
        type: driver,
        isDefault: name === defaultPool,
        isActive: status === 'Created',
        capacityBytes: isKnown ? space.total : null,
        allocatedBytes: isKnown ? space.used : null,
        freeBytes: isKnown ? Math.max(0, space.total - space.used) : null,
        spaceUnknown: isKnown ? '' : 'The server reports no size of this pool.',
        volumes: (usedBy ?? []).filter((path) => !path.startsWith(PROFILES)).length,
        canExpand: true,
        claimModes: [],
        segments: [],
        users: usersOf(api.context, usedBy, instances),
      };
    }),
  );
  return described.sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function spaceOf(api: IncusApi, name: string): Promise<PoolResources['space'] | undefined> {
  try {
    return (await api.get<PoolResources>(`/1.0/storage-pools/${encodeURIComponent(name)}/resources`)).space;
  } catch (error) {
    // A certificate that is restricted to projects may not read it, nor anyone that of a pool which is broken.
    if (DomainError.is(error, 'BACKEND_UNREACHABLE', 'BACKEND_TIMEOUT')) throw error;
    return undefined;
  }
}
