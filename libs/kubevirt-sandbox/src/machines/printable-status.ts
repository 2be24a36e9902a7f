import { findCondition, isTrue } from '../types/condition.js';
import type { PersistentVolumeClaim } from '../types/core-kinds.js';
import type { DataVolume } from '../types/data-volume.js';
import type { VirtualMachineInstance } from '../types/virtual-machine-instance.js';
import { runStrategyOf, type VirtualMachine } from '../types/virtual-machine.js';

/** The inputs of a VM's printable status. */
export interface StatusInputs {
  vm: VirtualMachine;
  vmi: VirtualMachineInstance | undefined;
  /** The existing DataVolumes among the VM's volumes. */
  dataVolumes: readonly DataVolume[];
  /** The existing claims among the VM's volumes. */
  claims: readonly PersistentVolumeClaim[];
  /** Whether a VMI is about to be created. */
  creationExpected: boolean;
}

const FINAL_PHASES = ['Succeeded', 'Failed'];
const RESTARTING_STRATEGIES = ['Always', 'RerunOnFailure', 'Once'];

export const isFinal = (vmi: VirtualMachineInstance): boolean => FINAL_PHASES.includes(vmi.status?.phase ?? '');

/** A migration that has started and not ended. */
export function isMigrating(vmi: VirtualMachineInstance): boolean {
  const state = vmi.status?.migrationState;
  return state?.startTimestamp !== undefined && !state.completed && !state.failed;
}

const synchronizationFailure = ({ vm, vmi }: StatusInputs): string | undefined => {
  const condition =
    findCondition(vmi?.status?.conditions, 'Synchronized') ?? findCondition(vm.status?.conditions, 'Synchronized');
  return condition?.status === 'False' ? condition.reason : undefined;
};

function hasBrokenDataVolume({ dataVolumes }: StatusInputs): boolean {
  return dataVolumes.some(({ status }) => {
    const running = findCondition(status?.conditions, 'Running');
    const failing = running?.status === 'False' && ['Error', 'ImagePullFailed'].includes(running.reason ?? '');
    return status?.phase === 'Failed' || failing;
  });
}

function isProvisioning({ dataVolumes, claims }: StatusInputs): boolean {
  return dataVolumes.some(({ metadata, status }) => {
    const phase = status?.phase ?? '';
    if (phase === 'Succeeded' || phase === 'PendingPopulation') return false;
    const bound = claims.some((claim) => claim.metadata.name === metadata.name && claim.status?.phase === 'Bound');
    return phase !== 'WaitForFirstConsumer' || bound;
  });
}

const isLive = ({ vmi }: StatusInputs): boolean => vmi !== undefined && !isFinal(vmi);

const isCrashLooping = (inputs: StatusInputs): boolean =>
  (inputs.vm.status?.startFailure?.consecutiveFailCount ?? 0) > 0 &&
  RESTARTING_STRATEGIES.includes(runStrategyOf(inputs.vm)) &&
  !isLive(inputs);

const isStarting = ({ vmi, creationExpected }: StatusInputs): boolean =>
  vmi ? ['', 'Pending', 'Scheduling', 'Scheduled'].includes(vmi.status?.phase ?? '') : creationExpected;

/** In KubeVirt's order: the first match is the status. */
const RULES: readonly (readonly [string, (inputs: StatusInputs) => boolean])[] = [
  ['Terminating', ({ vm }) => vm.metadata.deletionTimestamp !== undefined],
  ['Stopping', (inputs) => isLive(inputs) && inputs.vmi!.metadata.deletionTimestamp !== undefined],
  ['Migrating', ({ vmi }) => vmi !== undefined && !isFinal(vmi) && isMigrating(vmi)],
  ['Paused', ({ vmi }) => vmi?.status?.phase === 'Running' && isTrue(vmi.status.conditions, 'Paused')],
  ['Running', ({ vmi }) => vmi?.status?.phase === 'Running'],
  ['ErrorPvcNotFound', (inputs) => synchronizationFailure(inputs) === 'FailedPvcNotFound'],
  ['DataVolumeError', hasBrokenDataVolume],
  ['ErrorUnschedulable', ({ vmi }) => isUnschedulable(vmi)],
  ['Provisioning', isProvisioning],
  [
    'WaitingForVolumeBinding',
    (inputs) => isToRun(inputs) && inputs.claims.some(({ status }) => status?.phase !== 'Bound'),
  ],
  ['ErrImagePull', (inputs) => synchronizationFailure(inputs) === 'ErrImagePull'],
  ['ImagePullBackOff', (inputs) => synchronizationFailure(inputs) === 'ImagePullBackOff'],
  ['Starting', isStarting],
  ['CrashLoopBackOff', isCrashLooping],
  ['Stopped', ({ vmi }) => vmi === undefined || isFinal(vmi)],
];

function isUnschedulable(vmi: VirtualMachineInstance | undefined): boolean {
  const scheduled = findCondition(vmi?.status?.conditions, 'PodScheduled');
  return scheduled?.status === 'False' && scheduled.reason === 'Unschedulable';
}

const isToRun = (inputs: StatusInputs): boolean => isLive(inputs) || inputs.creationExpected;

/** `status.printableStatus`. */
export function printableStatus(inputs: StatusInputs): string {
  return RULES.find(([, applies]) => applies(inputs))?.[0] ?? 'Unknown';
}
