import { DomainError, type AffectedInstance, type NodeFailure } from '@headgate/domain-contracts';
import type { ClaimObject, NodeObject, PodObject, VmiObject, VmObject } from '../api/object-types.js';
import { CLAIMS, NODES, PODS, VIRTUAL_MACHINES, VM_INSTANCES } from '../api/resources.js';
import type { ClusterFacts } from '../discovery/cluster-facts.js';
import { sizeOfSpec } from '../inventory/guest-size.js';
import { LABEL } from '../labels.js';
import { listScoped, listScopedIfServed, refOf, type ClusterScope } from './cluster-scope.js';
import { restartOf, type RestartContext } from './restart-elsewhere.js';
import { storageClasses } from './storage-classes.js';

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
  const { api, context } = scope;
  const nodes = await api.list<NodeObject>(NODES);
  if (!nodes.some(({ metadata }) => metadata.name === name))
    throw new DomainError('NODE_NOT_FOUND', `There is no node named ${name}.`);
  const [vms, vmis, claims, classes, pods] = await Promise.all([
    listScopedIfServed<VmObject>(scope, VIRTUAL_MACHINES),
    listScopedIfServed<VmiObject>(scope, VM_INSTANCES),
    listScoped<ClaimObject>(scope, CLAIMS),
    storageClasses(api),
    containersOf(scope),
  ]);
  const restart: RestartContext = {
    node: name,
    nodes,
    claims: new Map(claims.map((claim) => [`${claim.metadata.namespace}/${claim.metadata.name}`, claim])),
    classes: new Map(classes.map((one) => [one.metadata.name ?? '', one])),
    selectsMachines: facts.isAtLeast(1, 7),
  };
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
