import {
  ClusterInventory,
  type ClusterNode,
  type InstancetypeNames,
  type StorageCapabilities,
} from '@headgate/domain-contracts';
import type { KubeApi } from '../api/kube-api.js';
import { KubeApiError } from '../api/kube-api-error.js';
import { CLUSTER_INSTANCETYPES, CLUSTER_PREFERENCES, NODES, type Resource } from '../api/resources.js';
import type { ClusterDiscovery } from '../discovery/cluster-discovery.js';
import type { NodeObject } from '../api/object-types.js';
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
      this.names(CLUSTER_INSTANCETYPES),
      this.names(CLUSTER_PREFERENCES),
    ]);
    return { instancetypes, preferences };
  }

  private async names(resource: Resource): Promise<string[]> {
    try {
      const objects = await this.api.list(resource);
      return objects.map(({ metadata }) => metadata.name ?? '').sort();
    } catch (error) {
      // The API is not served without KubeVirt.
      if (KubeApiError.has(error, 404)) return [];
      throw error;
    }
  }
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
