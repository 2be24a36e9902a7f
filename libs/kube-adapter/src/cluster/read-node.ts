import { DomainError } from '@headgate/domain-contracts';
import { keyOf } from '../api/kube-object.js';
import type { ClaimObject, NodeObject, PodObject, VmiObject, VmObject } from '../api/object-types.js';
import { CLAIMS, NODES, VIRTUAL_MACHINES, VM_INSTANCES } from '../api/resources.js';
import type { ClusterFacts } from '../discovery/cluster-facts.js';
import { isProofVm } from '../proof-vm.js';
import { listScoped, listScopedIfServed, type ClusterScope } from './cluster-scope.js';
import type { RestartContext } from './restart-elsewhere.js';
import { storageClasses } from './storage-classes.js';

export interface NodeReading {
  readonly vms: readonly VmObject[];
  readonly vmis: readonly VmiObject[];
  readonly pods: readonly PodObject[];
  readonly restart: RestartContext;
}

/**
 * Reads what decides where the instances of a node can run instead.
 * @param podsOf lists the pods that matter
 * @throws DomainError NODE_NOT_FOUND
 */
export async function readNode(
  scope: ClusterScope,
  facts: ClusterFacts,
  name: string,
  podsOf: () => Promise<PodObject[]>,
): Promise<NodeReading> {
  const { api } = scope;
  const nodes = await api.list<NodeObject>(NODES);
  if (!nodes.some(({ metadata }) => metadata.name === name))
    throw new DomainError('NODE_NOT_FOUND', `There is no node named ${name}.`);
  const [vms, vmis, claims, classes, pods] = await Promise.all([
    listScopedIfServed<VmObject>(scope, VIRTUAL_MACHINES),
    listScopedIfServed<VmiObject>(scope, VM_INSTANCES),
    listScoped<ClaimObject>(scope, CLAIMS),
    storageClasses(api),
    podsOf(),
  ]);
  const restart: RestartContext = {
    node: name,
    nodes,
    claims: new Map(claims.map((claim) => [keyOf(claim), claim])),
    classes: new Map(classes.map((one) => [one.metadata.name ?? '', one])),
    selectsMachines: facts.isAtLeast(1, 7),
  };
  // The VM of a proof does not move: it ends with its pod.
  return { vms: vms.filter((vm) => !isProofVm(vm)), vmis, pods, restart };
}
