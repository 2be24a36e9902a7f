import {
  DomainError,
  refusal,
  type InstanceRef,
  type LeavingInstance,
  type NodeDrain,
  type Refusal,
} from '@headgate/domain-contracts';
import { keyOf } from '../api/kube-object.js';
import type { ClaimObject, NodeObject, PodObject, VmiObject } from '../api/object-types.js';
import { PODS } from '../api/resources.js';
import { refOf, type ClusterScope } from '../cluster/cluster-scope.js';
import { cpusPerCpu } from '../cluster/node-failure.js';
import { readNode } from '../cluster/read-node.js';
import { accepts, localClassOf, uncheckedOf, type RestartContext } from '../cluster/restart-elsewhere.js';
import { readRecordedSpec } from '../containers/recorded-spec.js';
import type { ClusterFacts } from '../discovery/cluster-facts.js';
import { sizeOfSpec } from '../inventory/guest-size.js';
import { ANNOTATION, LABEL } from '../labels.js';
import { CREATED_BY } from '../migration/find-target.js';
import { expectMigratableGuest } from '../migration/migratable.js';
import { chooseTarget, isSchedulable, remedyOf, targetsOf } from '../migration/migration-target.js';
import { targetLabels } from '../migration/target-labels.js';

const UNCHECKED = [
  'Other pods use memory of the nodes too, and each VM needs some MiB besides its own. Both were not counted.',
];
const EXTERNAL = 'External';

interface NodeContents extends RestartContext {
  readonly context: string;
  /** The pods on the node, of all namespaces that the service may list. */
  readonly pods: readonly PodObject[];
}

/**
 * How the VMs and containers of a node would leave it.
 * @throws DomainError NODE_NOT_FOUND
 */
export async function describeDrain(scope: ClusterScope, facts: ClusterFacts, name: string): Promise<NodeDrain> {
  const { context } = scope;
  const { vms, vmis, pods, restart } = await readNode(scope, facts, name, () => podsOn(scope, name));
  const contents: NodeContents = { ...restart, context, pods };
  const owned = new Set(vms.map(keyOf));
  const guests = vmis.filter((vmi) => vmi.status?.nodeName === name && !hasEnded(vmi) && owned.has(keyOf(vmi)));
  const containers = pods.filter((pod) => pod.metadata.labels?.[LABEL.kind] === 'ct' && !hasEnded(pod));
  const launchers = new Set(guests.map(({ metadata }) => metadata.uid));
  const others = pods.filter(
    (pod) => !hasEnded(pod) && !containers.includes(pod) && !launchers.has(launchedBy(pod)) && !isAttached(pod),
  );
  return {
    cpusPerCpu: cpusPerCpu(facts),
    instances: [
      ...guests.map((vmi) => leavingGuest(vmi, contents)),
      ...containers.map((pod) => leavingContainer(pod, contents)),
    ],
    others: others.length,
    unchecked: UNCHECKED,
  };
}

async function podsOn({ api, namespaces }: ClusterScope, node: string): Promise<PodObject[]> {
  const fieldSelector = `spec.nodeName=${node}`;
  const scopes = namespaces?.map((namespace) => ({ namespace, fieldSelector })) ?? [{ fieldSelector }];
  return (await Promise.all(scopes.map((scope) => api.list<PodObject>(PODS, scope)))).flat();
}

function leavingGuest(vmi: VmiObject, contents: NodeContents): LeavingInstance {
  const { context, nodes, node, pods, selectsMachines } = contents;
  const ref = refOf(context, 'vm', vmi);
  const { cpu = 0, memoryBytes = 0 } = sizeOfSpec(vmi.spec);
  const launcher = pods.find((pod) => launchedBy(pod) === vmi.metadata.uid);
  const needed = targetLabels({ vmi, nodes, launcher, selectsMachines });
  const denied = refusalOf(() => {
    expectGuestToLeave(ref, vmi);
    chooseTarget(nodes, node, undefined, needed);
  });
  const fitting = new Set(targetsOf(nodes, node, needed));
  const candidates = nodes.filter((one) => fitting.has(one.metadata.name ?? '') && accepts(one, vmi.spec));
  return {
    ref,
    way: 'migrate',
    cpu,
    memoryBytes,
    candidates: candidates.map(({ metadata }) => metadata.name ?? '').sort(),
    unchecked: uncheckedOf(vmi, contents, true),
    losses: [],
    ...(denied && { refusal: denied }),
  };
}

/** @throws DomainError why it has to stay for now */
export function expectGuestToLeave(ref: InstanceRef, vmi: VmiObject): void {
  const { name } = ref;
  if (vmi.status?.phase !== 'Running')
    throw new DomainError('WRONG_STATE', `${name} is not running yet: its state is ${vmi.status?.phase ?? 'unknown'}.`);
  if (vmi.spec?.evictionStrategy === EXTERNAL)
    throw new DomainError(
      'WRONG_STATE',
      `The eviction strategy of ${name} is External: another controller moves it, not this service.`,
    );
  expectMigratableGuest(ref, vmi);
}

const WAYS_OUT: Readonly<Partial<Record<string, string>>> = {
  BUSY: 'Wait until that is done, and drain the node again.',
  WRONG_STATE: 'Shut the VM down, or drain the node without it and let it run.',
};

function refusalOf(check: () => void): Refusal | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (!DomainError.is(error)) throw error;
    return refusal(error.code, error.message, remedyOf(error) ?? WAYS_OUT[error.code] ?? '');
  }
}

function leavingContainer(pod: PodObject, contents: NodeContents): LeavingInstance {
  const { context, claims, classes, nodes, node } = contents;
  const { namespace = '', labels } = pod.metadata;
  const ref: InstanceRef = { kind: 'ct', context, namespace, name: labels?.[LABEL.name] ?? pod.metadata.name ?? '' };
  const claim = [...claims.values()].find(
    ({ metadata }) => metadata.namespace === namespace && metadata.labels?.[LABEL.name] === ref.name,
  );
  const spec = readRecordedSpec(claim?.metadata.annotations?.[ANNOTATION.spec]);
  const candidates = nodes
    .filter((one) => one.metadata.name !== node && isSchedulableForPods(one) && accepts(one, undefined))
    .map(({ metadata }) => metadata.name ?? '')
    .sort();
  const denied = !spec
    ? refusal(
        'WRONG_STATE',
        `The data volume of ${ref.name} has no valid ${ANNOTATION.spec} annotation, so its pod can't be created again.`,
        'Stop the container, or drain the node without it and let it run.',
      )
    : (localVolume(ref, claim, classes) ?? (candidates.length === 0 ? noOtherNode() : undefined));
  return {
    ref,
    way: 'restart',
    cpu: 0,
    memoryBytes: spec?.memoryBytes ?? 0,
    candidates,
    unchecked: [
      `whether the storage releases ${claim?.metadata.name ?? 'its volume'}, which only one node may use at a time`,
    ],
    losses: spec?.privileged === false ? [`Files of ${ref.name} outside of /data are lost.`] : [],
    ...(denied && { refusal: denied }),
  };
}

function localVolume(
  ref: InstanceRef,
  claim: ClaimObject | undefined,
  classes: RestartContext['classes'],
): Refusal | undefined {
  const className = localClassOf(claim, classes);
  if (className === undefined) return undefined;
  return refusal(
    'WRONG_STATE',
    `${ref.name} can't be started elsewhere: its volume is on the node, because the storage class ${className} has local volumes.`,
    'Stop the container, or drain the node without it and let it run.',
  );
}

const noOtherNode = (): Refusal =>
  refusal('WRONG_STATE', 'There is no other schedulable node at the moment.', 'Uncordon or add a node.');

/** KubeVirt's own label does not matter to the pods of containers. */
const isSchedulableForPods = (node: NodeObject): boolean =>
  isSchedulable({ ...node, metadata: { ...node.metadata, labels: { 'kubevirt.io/schedulable': 'true' } } });

const launchedBy = ({ metadata }: PodObject): string | undefined => metadata.labels?.[CREATED_BY];
/** Pods of DaemonSets belong to their node, and those of hot-plugged disks to the pod of their VM. */
const isAttached = ({ metadata }: PodObject): boolean =>
  metadata.ownerReferences?.some(({ kind }) => kind === 'DaemonSet' || kind === 'Pod') ?? false;
const hasEnded = ({ status }: { readonly status?: { readonly phase?: string } }): boolean =>
  status?.phase === 'Succeeded' || status?.phase === 'Failed';
