import type {
  InstanceNameView,
  NetworkDetailsView,
  NodeDetailsView,
  NodeFailureView,
  StorageView,
} from '@headgate/api-contracts';
import {
  formatRef,
  type ClusterNode,
  type ClusterStorage,
  type Grant,
  type InstanceRef,
  type NetworkDetails,
} from '@headgate/domain-contracts';
import { NO_PROMISE, type NodePromise } from '@headgate/fleet';
import type { PlacedInstance } from '@headgate/instances';
import type { NodeLoad } from '@headgate/metrics';

interface NodeContext {
  readonly context: string;
  readonly promised: NodePromise | undefined;
  readonly load: NodeLoad | undefined;
}

export function presentNodeDetails(
  node: ClusterNode,
  { context, promised: { virtualCpus, cpus, memoryBytes, instances } = NO_PROMISE, load }: NodeContext,
): NodeDetailsView {
  const { name, ready, roles, kubelet, arch, allocatable, zone, unschedulable } = node;
  return {
    name,
    context,
    ready,
    schedulable: unschedulable === '',
    ...(unschedulable !== '' && { unschedulable }),
    cordoned: node.isCordoned === true,
    ...(zone !== '' && { zone }),
    roles,
    kubelet,
    arch,
    capacity: { cpu: node.cpuMillicores, memoryBytes: node.memoryBytes },
    allocatable: { cpu: allocatable.cpuMillicores, memoryBytes: allocatable.memoryBytes },
    promised: { cpu: Math.round((virtualCpus + cpus) * 1000), memoryBytes },
    load: { cpu: load?.cpuMillicores ?? null, memoryBytes: load?.memoryUsedBytes ?? null },
    instances,
  };
}

interface FailureContext {
  readonly node: string;
  readonly context: string;
  readonly unchecked: readonly string[];
  readonly grant: Grant;
}

export function presentFailure(
  placed: readonly PlacedInstance[],
  { node, context, unchecked, grant }: FailureContext,
): NodeFailureView {
  const visible = placed.filter(({ instance: { ref } }) => grant.allowsRef('read', formatRef(ref)));
  return {
    node,
    context,
    instances: visible.map(({ instance, outcome, nodes, reason }) => ({
      ...presentName(instance.ref),
      outcome,
      nodes: [...nodes],
      ...(reason !== '' && { reason }),
      unchecked: [...instance.unchecked],
    })),
    hidden: placed.length - visible.length,
    unchecked: [...unchecked],
  };
}

export const presentStorage = (
  { kind, name, type, isDefault, isActive, canExpand, volumes, ...storage }: ClusterStorage,
  context: string,
  grant: Grant,
): StorageView => ({
  name,
  context,
  kind,
  type,
  default: isDefault,
  active: isActive,
  capacityBytes: storage.capacityBytes,
  allocatedBytes: storage.allocatedBytes,
  freeBytes: storage.freeBytes,
  ...(storage.spaceUnknown !== '' && { spaceUnknown: storage.spaceUnknown }),
  volumes,
  canExpand,
  modes: [...storage.claimModes],
  segments: [...storage.segments],
  ...presentUsers(storage.users, grant),
});

export const presentNetwork = (
  { namespace, name, mode, bridge, isActive, addresses, dhcp, users }: NetworkDetails,
  context: string,
  grant: Grant,
): NetworkDetailsView => ({
  namespace,
  name,
  ref: `${namespace}/${name}`,
  context,
  mode,
  bridge,
  active: isActive,
  addresses: [...addresses],
  dhcp: [...dhcp],
  ...presentUsers(users, grant),
});

function presentUsers(
  users: readonly InstanceRef[],
  grant: Grant,
): { readonly users: InstanceNameView[]; readonly hiddenUsers: number } {
  const visible = users.filter((ref) => grant.allowsRef('read', formatRef(ref)));
  return { users: visible.map(presentName), hiddenUsers: users.length - visible.length };
}

const presentName = (ref: InstanceRef): InstanceNameView => ({
  ref: formatRef(ref),
  kind: ref.kind,
  namespace: ref.namespace,
  name: ref.name,
});
