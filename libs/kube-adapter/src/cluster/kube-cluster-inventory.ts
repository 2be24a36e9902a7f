import {
  ClusterInventory,
  type ClusterNetwork,
  type ClusterNode,
  type InstancetypeNames,
  type InstancetypeSize,
  type StorageCapabilities,
} from '@headgate/domain-contracts';
import type { KubeApi } from '../api/kube-api.js';
import { KubeApiError } from '../api/kube-api-error.js';
import type { KubeObject } from '../api/kube-object.js';
import {
  CLUSTER_INSTANCETYPES,
  CLUSTER_PREFERENCES,
  NETWORK_ATTACHMENTS,
  NODES,
  type Resource,
} from '../api/resources.js';
import type { ClusterDiscovery } from '../discovery/cluster-discovery.js';
import type { InstancetypeObject, NodeObject } from '../api/object-types.js';
import { bytesOf, millicoresOf } from '../inventory/guest-size.js';
import { isReady } from '../migration/migration-target.js';
import { canSnapshot, defaultClass, snapshotClasses, storageClasses } from './storage-classes.js';

const ROLE_PREFIX = 'node-role.kubernetes.io/';
const LEGACY_ROLE = 'kubernetes.io/role';

/** Nodes, storage capabilities and instancetypes of a cluster. */
export class KubeClusterInventory extends ClusterInventory {
  constructor(
    private readonly api: KubeApi,
    private readonly discovery: ClusterDiscovery,
  ) {
    super();
  }

  override async nodes(): Promise<readonly ClusterNode[]> {
    const nodes = await this.api.list<NodeObject>(NODES);
    return nodes.map(clusterNode).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  override async storage(): Promise<StorageCapabilities> {
    const [classes, snapshots, facts] = await Promise.all([
      storageClasses(this.api),
      snapshotClasses(this.api),
      this.discovery.facts(),
    ]);
    const byDefault = defaultClass(classes);
    return {
      storageClass: byDefault?.metadata.name ?? '',
      canExpand: classes.some(({ allowVolumeExpansion }) => allowVolumeExpansion === true),
      canSnapshot: canSnapshot(byDefault, snapshots) && (!facts.hasKubevirt || facts.isGateEnabled('Snapshot')),
    };
  }

  override async instancetypes(): Promise<InstancetypeNames> {
    const [instancetypes, preferences] = await Promise.all([
      this.listIfServed<InstancetypeObject>(CLUSTER_INSTANCETYPES),
      this.listIfServed(CLUSTER_PREFERENCES),
    ]);
    return {
      instancetypes: namesOf(instancetypes),
      preferences: namesOf(preferences),
      sizes: instancetypes.flatMap(sizeOf),
    };
  }

  override async networks(): Promise<readonly ClusterNetwork[]> {
    const networks = await this.listIfServed(NETWORK_ATTACHMENTS);
    return networks
      .map(({ metadata: { namespace = '', name = '' } }) => ({ namespace, name }))
      .sort((a, b) => (`${a.namespace}/${a.name}` < `${b.namespace}/${b.name}` ? -1 : 1));
  }

  private async listIfServed<T extends KubeObject>(resource: Resource): Promise<T[]> {
    try {
      return await this.api.list<T>(resource);
    } catch (error) {
      // The API is not served without KubeVirt or Multus.
      if (KubeApiError.has(error, 404)) return [];
      throw error;
    }
  }
}

const namesOf = (objects: readonly KubeObject[]): string[] => objects.map(({ metadata }) => metadata.name ?? '').sort();

function sizeOf({ metadata, spec }: InstancetypeObject): InstancetypeSize[] {
  const [cpu, memoryBytes] = [spec?.cpu?.guest, bytesOf(spec?.memory?.guest)];
  if (metadata.name === undefined || !cpu || !memoryBytes) return [];
  return [{ name: metadata.name, cpu, memoryBytes }];
}

const clusterNode = (node: NodeObject): ClusterNode => ({
  name: node.metadata.name ?? '',
  ready: isReady(node),
  roles: rolesOf(node).join(','),
  kubelet: node.status?.nodeInfo?.kubeletVersion ?? '',
  arch: node.status?.nodeInfo?.architecture ?? '',
  cpuMillicores: millicoresOf(node.status?.capacity?.['cpu']) ?? null,
  memoryBytes: bytesOf(node.status?.capacity?.['memory']) ?? null,
});

function rolesOf({ metadata }: NodeObject): string[] {
  const labels = metadata.labels ?? {};
  const roles = Object.keys(labels)
    .filter((label) => label.startsWith(ROLE_PREFIX))
    .map((label) => label.slice(ROLE_PREFIX.length));
  const legacy = labels[LEGACY_ROLE];
  return [...new Set(legacy ? [...roles, legacy] : roles)].filter((role) => role !== '').sort();
}
