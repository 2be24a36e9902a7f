import {
  ClusterInventory,
  type ClusterNetwork,
  type ClusterNode,
  type ClusterStorage,
  type InstancetypeNames,
  type InstancetypeSize,
  type NetworkDetails,
  type NodeFailure,
  type StorageCapabilities,
} from '@headgate/domain-contracts';
import type { KubeApi } from '../api/kube-api.js';
import type { KubeObject } from '../api/kube-object.js';
import { CLUSTER_INSTANCETYPES, CLUSTER_PREFERENCES, NETWORK_ATTACHMENTS, NODES } from '../api/resources.js';
import type { ClusterDiscovery } from '../discovery/cluster-discovery.js';
import type { InstancetypeObject, NodeObject } from '../api/object-types.js';
import { bytesOf, millicoresOf } from '../inventory/guest-size.js';
import { isReady, unschedulableReason } from '../migration/migration-target.js';
import { listIfServed, type ClusterScope } from './cluster-scope.js';
import { describeNetworks } from './describe-networks.js';
import { describeStorage } from './describe-storage.js';
import { describeFailure } from './node-failure.js';
import { canSnapshot, defaultClass, snapshotClasses, storageClasses } from './storage-classes.js';

const ROLE_PREFIX = 'node-role.kubernetes.io/';
const ZONE = 'topology.kubernetes.io/zone';
const LEGACY_ROLE = 'kubernetes.io/role';

/** Nodes, storage capabilities and instancetypes of a cluster. */
export class KubeClusterInventory extends ClusterInventory {
  constructor(
    private readonly api: KubeApi,
    private readonly discovery: ClusterDiscovery,
    private readonly scope: Omit<ClusterScope, 'api'>,
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
      listIfServed<InstancetypeObject>(this.api, CLUSTER_INSTANCETYPES),
      listIfServed(this.api, CLUSTER_PREFERENCES),
    ]);
    return {
      instancetypes: namesOf(instancetypes),
      preferences: namesOf(preferences),
      sizes: instancetypes.flatMap(sizeOf),
    };
  }

  override async networks(): Promise<readonly ClusterNetwork[]> {
    const networks = await listIfServed(this.api, NETWORK_ATTACHMENTS);
    return networks
      .map(({ metadata: { namespace = '', name = '' } }) => ({ namespace, name }))
      .sort((a, b) => (`${a.namespace}/${a.name}` < `${b.namespace}/${b.name}` ? -1 : 1));
  }

  override storages(): Promise<readonly ClusterStorage[]> {
    return describeStorage({ api: this.api, ...this.scope });
  }

  override networkDetails(): Promise<readonly NetworkDetails[]> {
    return describeNetworks({ api: this.api, ...this.scope });
  }

  override async failureOf(node: string): Promise<NodeFailure> {
    return describeFailure({ api: this.api, ...this.scope }, await this.discovery.facts(), node);
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
  allocatable: {
    cpuMillicores: millicoresOf(node.status?.allocatable?.['cpu']) ?? null,
    memoryBytes: bytesOf(node.status?.allocatable?.['memory']) ?? null,
  },
  zone: node.metadata.labels?.[ZONE] ?? '',
  unschedulable: unschedulableReason(node),
  ...(node.spec?.unschedulable === true && { isCordoned: true }),
});

function rolesOf({ metadata }: NodeObject): string[] {
  const labels = metadata.labels ?? {};
  const roles = Object.keys(labels)
    .filter((label) => label.startsWith(ROLE_PREFIX))
    .map((label) => label.slice(ROLE_PREFIX.length));
  const legacy = labels[LEGACY_ROLE];
  return [...new Set(legacy ? [...roles, legacy] : roles)].filter((role) => role !== '').sort();
}
