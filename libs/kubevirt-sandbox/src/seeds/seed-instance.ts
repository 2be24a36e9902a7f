import { guestOsInfo } from '../guests/guest-agent.js';
import { guestProfileFor } from '../guests/guest-profile.js';
import { guestFacts } from '../controllers/instance/guest-registry.js';
import { enterPhase, GUEST_NOT_RUNNING, updateCondition } from '../controllers/instance/instance-phase.js';
import { interfaceStatuses } from '../controllers/instance/interface-status.js';
import { launcherPod } from '../controllers/instance/launcher-pod.js';
import { setRunning } from '../controllers/instance/running-status.js';
import { claimInfo } from '../controllers/instance/volume-status.js';
import { setRunning as podRuns } from '../controllers/pods/pod-status.js';
import { chooseNode } from '../controllers/pods/node-choice.js';
import { buildInstance } from '../machines/instance-builder.js';
import { RESOURCES } from '../resources.js';
import { setCondition } from '../types/condition.js';
import type { Node, PersistentVolumeClaim, Pod } from '../types/core-kinds.js';
import type { VirtualMachineInstance } from '../types/virtual-machine-instance.js';
import type { VirtualMachine } from '../types/virtual-machine.js';
import type { SimulationContext } from '../simulation-context.js';
import { seededSuffix, seededUid } from './seeded-values.js';
import type { VmSeed } from './vm-seed.js';

export interface SeededInstance {
  vmi: VirtualMachineInstance;
  pod: Pod;
}

export interface InstanceSeed {
  readonly seed: VmSeed;
  /** The time of its start. */
  readonly since: string;
  /** Of its root disk. */
  readonly claim: PersistentVolumeClaim | undefined;
  /** Of its pod; default: the next one of the pod network. */
  readonly address?: string;
}

/** The name of the launcher pod of a seeded VM. */
export const launcherName = (namespace: string, name: string): string =>
  `virt-launcher-${name}-${seededSuffix(`${namespace}/${name}`)}`;

/** The VMI of a seeded VM and its pod: running, paused, or without a node. */
export function seedInstance(context: SimulationContext, vm: VirtualMachine, options: InstanceSeed): SeededInstance {
  const { seed, since } = options;
  const { namespace, name } = vm.metadata;
  const vmi = buildInstance(context, { ...vm, metadata: { ...vm.metadata, generation: 1 } }, since);
  vmi.metadata.uid = seededUid(`VirtualMachineInstance/${namespace}/${name}`);
  vmi.metadata.creationTimestamp = since;
  const pod = launcherPod(context, vmi);
  pod.metadata.name = launcherName(namespace!, name);
  pod.metadata.uid = seededUid(`Pod/${namespace}/${name}`);
  pod.metadata.creationTimestamp = since;
  if (seed.status === 'ErrorUnschedulable') return unplaced(context, vmi, pod, since);
  place(context, pod, options);
  run({ context, vmi, pod, ...options });
  return { vmi, pod };
}

function unplaced(context: SimulationContext, vmi: VirtualMachineInstance, pod: Pod, since: string): SeededInstance {
  const { message } = chooseNode(context, pod);
  const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message } as const;
  enterPhase(vmi, 'Scheduling', since);
  updateCondition(vmi, GUEST_NOT_RUNNING, since);
  updateCondition(vmi, condition, since);
  const conditions = [{ ...condition, lastProbeTime: null, lastTransitionTime: since }];
  pod.status = { phase: 'Pending', conditions, qosClass: 'Burstable' };
  return { vmi, pod };
}

function place(context: SimulationContext, pod: Pod, { seed, since, address }: InstanceSeed): void {
  const { node: wanted } = seed;
  const node = wanted ? context.find<Node>(RESOURCES.node, undefined, wanted) : chooseNode(context, pod).node;
  const nodeName = node?.metadata.name ?? wanted ?? 'node-a';
  pod.spec.nodeName = nodeName;
  pod.status = { startTime: since, qosClass: 'Burstable', conditions: [] };
  setCondition(pod.status.conditions!, { type: 'PodScheduled', status: 'True' }, since);
  const host = node?.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? '192.0.2.1';
  podRuns(pod, address ?? context.nextAddress(), host, since);
}

interface SeededRun extends SeededInstance, InstanceSeed {
  readonly context: SimulationContext;
}

function run({ context, vmi, pod, seed, since, claim }: SeededRun): void {
  const nodeName = pod.spec.nodeName!;
  for (const phase of ['Scheduling', 'Scheduled'] as const) enterPhase(vmi, phase, since);
  vmi.metadata.labels = { ...vmi.metadata.labels, 'kubevirt.io/nodeName': nodeName };
  Object.assign(vmi.status!, {
    nodeName,
    qosClass: 'Burstable',
    activePods: { [pod.metadata.uid!]: nodeName },
    launcherContainerImageVersion: pod.spec.containers[0]!.image,
  });
  setRunning(context, vmi, pod);
  const root = vmi.status!.volumeStatus?.[0];
  if (root && claim) root.persistentVolumeClaimInfo = claimInfo(claim);
  for (const stamp of vmi.status!.phaseTransitionTimestamps!) stamp.phaseTransitionTimestamp = since;
  for (const condition of vmi.status!.conditions!) {
    if (condition.lastTransitionTime) condition.lastTransitionTime = since;
  }
  const profile = guestProfileFor([seed.containerDisk ?? seed.image ?? 'fedora', seed.name]);
  if (seed.agent !== false && profile.agent) {
    updateCondition(vmi, { type: 'AgentConnected', status: 'True', lastProbeTime: since }, since);
    vmi.status!.guestOSInfo = guestOsInfo({ ...guestFacts(context, vmi), profile });
    vmi.status!.interfaces = interfaceStatuses(vmi, pod.status?.podIP);
  }
  if (seed.status !== 'Paused') return;
  updateCondition(
    vmi,
    { type: 'Paused', status: 'True', reason: 'PausedByUser', message: 'VMI was paused by user' },
    since,
  );
  updateCondition(vmi, GUEST_NOT_RUNNING, since);
}
