import {
  formatRef,
  type ClaimMode,
  type ClusterStorage,
  type InstanceRef,
  type StorageSegment,
} from '@headgate/domain-contracts';
import type { KubeApi } from '../api/kube-api.js';
import type { ClaimObject, VmObject } from '../api/object-types.js';
import { CLAIMS, STORAGE_CAPACITIES, STORAGE_PROFILES, VIRTUAL_MACHINES } from '../api/resources.js';
import type { KubeObject } from '../api/kube-object.js';
import { bytesOf } from '../inventory/guest-size.js';
import { LABEL } from '../labels.js';
import { isProofVm } from '../proof-vm.js';
import { claimsOf } from './claims-of.js';
import { listIfAllowed, listScoped, listScopedIfServed, refOf, type ClusterScope } from './cluster-scope.js';
import { defaultClass, storageClasses, type StorageClassObject } from './storage-classes.js';

/** Source: https://kubernetes.io/docs/concepts/storage/storage-capacity/ */
interface CapacityObject extends KubeObject {
  readonly storageClassName?: string;
  readonly capacity?: string;
  readonly maximumVolumeSize?: string;
  readonly nodeTopology?: { readonly matchLabels?: Readonly<Record<string, string>> };
}

interface ProfileObject extends KubeObject {
  readonly status?: {
    readonly claimPropertySets?: readonly {
      readonly accessModes?: readonly string[];
      readonly volumeMode?: string;
    }[];
  };
}

const NO_SPACE =
  'No CSIStorageCapacity reports the free space of this class: its driver may have none, or the volumes share a storage outside of the cluster.';
const MAY_NOT_LIST = 'The service may not list the CSIStorageCapacity objects of this cluster, which report it.';

/** The storage classes of a cluster with their claims, and the instances that use these. */
export async function describeStorage(scope: ClusterScope): Promise<ClusterStorage[]> {
  const { api } = scope;
  const [classes, profiles, capacities, claims, users] = await Promise.all([
    storageClasses(api),
    listIfAllowed<ProfileObject>(api, STORAGE_PROFILES),
    listIfAllowed<CapacityObject>(api, STORAGE_CAPACITIES),
    listScoped<ClaimObject>(scope, CLAIMS),
    usersOfClaims(scope),
  ]);
  const byDefault = defaultClass(classes);
  const describe = (one: StorageClassObject): ClusterStorage => {
    const name = one.metadata.name ?? '';
    const own = claims.filter(({ spec }) => spec?.storageClassName === name);
    const profile = profiles?.find(({ metadata }) => metadata.name === name);
    const segments = segmentsOf(capacities, name);
    const free = segments.map(({ freeBytes }) => freeBytes).filter((bytes) => bytes !== null);
    return {
      kind: 'class',
      name,
      type: one.provisioner ?? '',
      isDefault: one === byDefault,
      isActive: true,
      capacityBytes: null,
      allocatedBytes: own.reduce((sum, claim) => sum + sizeOf(claim), 0),
      freeBytes: free.length === 0 ? null : free.reduce((sum, bytes) => sum + bytes, 0),
      spaceUnknown: free.length > 0 ? '' : capacities ? NO_SPACE : MAY_NOT_LIST,
      volumes: own.length,
      canExpand: one.allowVolumeExpansion === true,
      claimModes: modesOf(profile),
      segments,
      users: sortedOnce(own.flatMap((claim) => [...containerOf(scope, claim), ...(users.get(keyOf(claim)) ?? [])])),
    };
  };
  return classes.map(describe).sort((a, b) => (a.name < b.name ? -1 : 1));
}

const keyOf = ({ metadata }: KubeObject): string => `${metadata.namespace}/${metadata.name}`;

const sizeOf = ({ spec, status }: ClaimObject): number =>
  bytesOf(status?.capacity?.storage ?? spec?.resources?.requests?.storage) ?? 0;

const modesOf = (profile: ProfileObject | undefined): ClaimMode[] =>
  (profile?.status?.claimPropertySets ?? []).flatMap(({ accessModes = [], volumeMode = 'Filesystem' }) =>
    accessModes.map((accessMode) => ({ accessMode, volumeMode })),
  );

const segmentsOf = (capacities: readonly CapacityObject[] | undefined, name: string): StorageSegment[] =>
  (capacities ?? []).filter(({ storageClassName }) => storageClassName === name).map(segmentOf);

/** The free space of a storage class, as far as its driver reports it and the account may read it. */
export const freeSpaceOf = async (api: KubeApi, storageClass: string): Promise<StorageSegment[]> =>
  segmentsOf(await listIfAllowed<CapacityObject>(api, STORAGE_CAPACITIES), storageClass);

const segmentOf = ({ capacity, maximumVolumeSize, nodeTopology }: CapacityObject): StorageSegment => ({
  nodes: Object.entries(nodeTopology?.matchLabels ?? {})
    .map(([label, value]) => `${label}=${value}`)
    .join(', '),
  freeBytes: bytesOf(capacity) ?? null,
  maxVolumeBytes: bytesOf(maximumVolumeSize) ?? null,
});

/** VMs by the claims that they have as disks. */
async function usersOfClaims(scope: ClusterScope): Promise<Map<string, InstanceRef[]>> {
  const users = new Map<string, InstanceRef[]>();
  for (const vm of await listScopedIfServed<VmObject>(scope, VIRTUAL_MACHINES)) {
    if (isProofVm(vm)) continue;
    for (const claim of claimsOf(vm.spec?.template?.spec ?? {})) {
      const key = `${vm.metadata.namespace}/${claim}`;
      users.set(key, [...(users.get(key) ?? []), refOf(scope.context, 'vm', vm)]);
    }
  }
  return users;
}

function containerOf({ context }: ClusterScope, { metadata }: ClaimObject): InstanceRef[] {
  const { [LABEL.kind]: kind, [LABEL.name]: name = '' } = metadata.labels ?? {};
  return kind === 'ct' ? [{ kind: 'ct', context, namespace: metadata.namespace ?? '', name }] : [];
}

export function sortedOnce(refs: readonly InstanceRef[]): InstanceRef[] {
  const once = new Map(refs.map((ref) => [formatRef(ref), ref]));
  return [...once].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, ref]) => ref);
}
