import type { AffectedInstance, NodeFailure } from '@headgate/domain-contracts';
import type { PodObject } from '../api/object-types.js';
import { PODS } from '../api/resources.js';
import type { ClusterFacts } from '../discovery/cluster-facts.js';
import { sizeOfSpec } from '../inventory/guest-size.js';
import { LABEL } from '../labels.js';
import { refOf, type ClusterScope } from './cluster-scope.js';
import { readNode } from './read-node.js';
import { restartOf } from './restart-elsewhere.js';

/** KubeVirt's default. */
const CPU_ALLOCATION_RATIO = 10;

const UNCHECKED = [
  'Kubernetes starts the VMs of a failed node elsewhere only after the node was fenced or its pods were deleted. Whether anything does that was not checked.',
  'Pods that are not in these lists use memory of the nodes too, and each VM needs some MiB besides its own. Both were not counted.',
];

/**
 * What would happen to the running VMs and containers of a node.
 * @throws DomainError NODE_NOT_FOUND
 */
export async function describeFailure(scope: ClusterScope, facts: ClusterFacts, name: string): Promise<NodeFailure> {
  const { context } = scope;
  const { vms, vmis, pods, restart } = await readNode(scope, facts, name, () => containersOf(scope));
  const owners = new Map(vms.map((vm) => [`${vm.metadata.namespace}/${vm.metadata.name}`, vm]));
  const guests = vmis.flatMap((vmi): AffectedInstance[] => {
    const vm = owners.get(`${vmi.metadata.namespace}/${vmi.metadata.name}`);
    if (vmi.status?.nodeName !== name || vmi.status.phase !== 'Running' || !vm) return [];
    const { cpu = 0, memoryBytes = 0 } = sizeOfSpec(vmi.spec);
    return [{ ref: refOf(context, 'vm', vm), cpu, memoryBytes, ...restartOf(vm, vmi, restart) }];
  });
  const containers = pods
    .filter(({ spec, status }) => spec?.nodeName === name && status?.phase === 'Running')
    .map(({ metadata }): AffectedInstance => ({
      ref: {
        kind: 'ct',
        context,
        namespace: metadata.namespace ?? '',
        name: metadata.labels?.[LABEL.name] ?? metadata.name ?? '',
      },
      cpu: 0,
      memoryBytes: 0,
      staysDown: 'A container is a single pod, which Kubernetes does not start on another node.',
      candidates: [],
      unchecked: [],
    }));
  return {
    cpusPerCpu: cpusPerCpu(facts),
    instances: [...guests, ...containers],
    unchecked: UNCHECKED,
  };
}

/** How many virtual CPUs KubeVirt puts on a CPU of a node. */
export const cpusPerCpu = (facts: ClusterFacts): number =>
  facts.kubevirt?.spec?.configuration?.developerConfiguration?.cpuAllocationRatio ?? CPU_ALLOCATION_RATIO;

async function containersOf({ api, namespaces }: ClusterScope): Promise<PodObject[]> {
  const labelSelector = `${LABEL.kind}=ct`;
  const scopes = namespaces?.map((namespace) => ({ namespace, labelSelector })) ?? [{ labelSelector }];
  return (await Promise.all(scopes.map((scope) => api.list<PodObject>(PODS, scope)))).flat();
}
