import type { IncusApi } from '../api/incus-api.js';

/** A machine of the server: a member of its cluster, or the only one. */
export interface Member {
  readonly name: string;
  readonly roles: readonly string[];
  /** Whether it runs instances. */
  readonly isOnline: boolean;
  /** Its state, such as `Evacuated`, with the reason of the server. */
  readonly state: string;
  readonly failureDomain: string;
  /** Absent when it does not answer. */
  readonly resources?: MemberResources;
}

export interface MemberResources {
  readonly cpu: { readonly architecture: string; readonly total: number };
  readonly memory: { readonly total: number };
}

interface MemberObject {
  readonly server_name: string;
  readonly status: string;
  readonly message: string;
  readonly roles: readonly string[];
  readonly failure_domain: string;
}

const ONLINE = 'Online';

export async function readMembers(api: IncusApi): Promise<readonly Member[]> {
  const { environment } = await api.server();
  const resourcesOf = (target?: string): Promise<MemberResources> =>
    api.get<MemberResources>('/1.0/resources', { target });
  if (!environment?.server_clustered) {
    const name = environment?.server_name ?? api.context;
    const resources = await resourcesOf();
    return [{ name, roles: [], isOnline: true, state: ONLINE, failureDomain: '', resources }];
  }
  const members = await api.get<readonly MemberObject[]>('/1.0/cluster/members', { recursion: 1 });
  return Promise.all(
    members.map(async ({ server_name: name, status, message, roles, failure_domain: failureDomain }) => ({
      name,
      roles,
      isOnline: status === ONLINE,
      state: message === '' ? status : `${status}: ${message}`,
      failureDomain,
      resources: await resourcesOf(name).catch(() => undefined),
    })),
  );
}
