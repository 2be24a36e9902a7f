import { deepEqual } from '@headgate/kube-sandbox';
import { RESOURCES } from '../../resources.js';
import { findCondition, isTrue, removeCondition, setCondition, type Condition } from '../../types/condition.js';
import type { PersistentVolumeClaim } from '../../types/core-kinds.js';
import type { DataVolume } from '../../types/data-volume.js';
import type { VirtualMachineInstance } from '../../types/virtual-machine-instance.js';
import { runStrategyOf, type VirtualMachine, type VmStatus } from '../../types/virtual-machine.js';
import type { SimulationContext } from '../../simulation-context.js';
import { observedGeneration } from '../../machines/live-update.js';
import { isFinal, printableStatus, type StatusInputs } from '../../machines/printable-status.js';
import { openRequests } from './run-decision.js';
import { followVolumeMigration } from '../../machines/volume-migration.js';
import { claimNameOf, volumeSnapshotStatuses } from '../../machines/volume-snapshot-statuses.js';

/** Conditions of the VM itself; all others are copied from its VMI. */
const OWN_CONDITIONS = ['Ready', 'Failure', 'RestartRequired', 'ManualRecoveryRequired'];

/** Facts from the reconciliation of a VM that are not in the objects themselves. */
export interface VmFindings {
  creationExpected: boolean;
  failure?: { reason: string; message: string };
  restartRequired?: string | false;
}

/** Collects the objects that a VM's status depends on. */
export function statusInputs(
  context: SimulationContext,
  vm: VirtualMachine,
  vmi: VirtualMachineInstance | undefined,
): StatusInputs {
  const names = (vm.spec.template.spec.volumes ?? []).map(claimNameOf).filter((name) => name !== undefined);
  const all = <T extends DataVolume | PersistentVolumeClaim>(resource: string): T[] =>
    names.map((name) => context.find<T>(resource, vm.metadata.namespace, name)).filter((found) => found !== undefined);
  return {
    vm,
    vmi,
    dataVolumes: context.without.has('cdi') ? [] : all<DataVolume>(RESOURCES.dataVolume),
    claims: all<PersistentVolumeClaim>(RESOURCES.claim),
    creationExpected: false,
  };
}

/** Updates the `status` of a VM, on a draft. */
export function updateVmStatus(
  context: SimulationContext,
  vm: VirtualMachine,
  inputs: StatusInputs,
  findings: VmFindings,
): void {
  const { vmi } = inputs;
  const now = context.clock.timestamp();
  const status = (vm.status ??= {});
  const conditions = (status.conditions ??= []);
  followVolumeMigration(vm, vmi, now);
  copyConditions(status, vmi, now);
  // KubeVirt omits both when they are false.
  if (vmi) status.created = true;
  else delete status.created;
  if (isTrue(conditions, 'Ready')) status.ready = true;
  else delete status.ready;
  setOwnConditions(conditions, vmi, findings, now);
  const strategy = runStrategyOf(vm);
  // A strategy with one automatic start is in force once that start has happened.
  const waits = ['Once', 'RerunOnFailure'].includes(strategy) && findings.creationExpected && !vmi;
  if (!waits) status.runStrategy = strategy;
  status.desiredGeneration = vm.metadata.generation;
  status.observedGeneration = vmi ? observedGeneration(vmi) : vm.metadata.generation;
  countFailures(context, vm, vmi);
  const requests = openRequests(vm, vmi);
  if (requests.length > 0) status.stateChangeRequests = requests;
  else delete status.stateChangeRequests;
  status.volumeSnapshotStatuses = volumeSnapshotStatuses(context, vm);
  status.printableStatus = printableStatus({ ...inputs, vm, creationExpected: findings.creationExpected });
}

function copyConditions(status: VmStatus, vmi: VirtualMachineInstance | undefined, now: string): void {
  const conditions = status.conditions!;
  // A volume migration that its VMI did not survive stays visible.
  const kept = !vmi && status.volumeUpdateState?.volumeMigrationState ? ['VolumesChange'] : [];
  const source = vmi?.status?.conditions ?? [];
  const ready = findCondition(source, 'Ready');
  setCondition(
    conditions,
    ready
      ? { ...ready, lastProbeTime: null }
      : {
          type: 'Ready',
          status: 'False',
          ...(vmi ? {} : { reason: 'VMINotExists', message: 'VMI does not exist' }),
        },
    now,
  );
  for (const { type } of [...conditions]) {
    if (![...OWN_CONDITIONS, ...kept].includes(type) && !findCondition(source, type)) removeCondition(conditions, type);
  }
  for (const condition of source) {
    const index = conditions.findIndex(({ type }) => type === condition.type);
    if (OWN_CONDITIONS.includes(condition.type)) continue;
    if (index < 0) conditions.push({ ...condition });
    else if (!deepEqual(conditions[index], condition)) conditions[index] = { ...condition };
  }
}

function setOwnConditions(
  conditions: Condition[],
  vmi: VirtualMachineInstance | undefined,
  { failure, restartRequired }: VmFindings,
  now: string,
): void {
  if (failure) setCondition(conditions, { type: 'Failure', status: 'True', ...failure }, now);
  else removeCondition(conditions, 'Failure');
  if (restartRequired) {
    setCondition(conditions, { type: 'RestartRequired', status: 'True', message: restartRequired }, now);
  } else if (!vmi || vmi.metadata.deletionTimestamp || restartRequired === false) {
    removeCondition(conditions, 'RestartRequired');
  }
}

/** A VMI that failed before it ran counts as a failed start; one that ran resets the count. */
function countFailures(context: SimulationContext, vm: VirtualMachine, vmi: VirtualMachineInstance | undefined): void {
  const status = vm.status!;
  if (!vmi) return;
  const ran = vmi.status?.phaseTransitionTimestamps?.some(({ phase }) => phase === 'Running') === true;
  if (ran || runStrategyOf(vm) === 'Halted') {
    delete status.startFailure;
    return;
  }
  if (!isFinal(vmi) || status.startFailure?.lastFailedVMIUID === vmi.metadata.uid) return;
  const consecutiveFailCount = (status.startFailure?.consecutiveFailCount ?? 0) + 1;
  status.startFailure = {
    consecutiveFailCount,
    lastFailedVMIUID: vmi.metadata.uid,
    retryAfterTimestamp: context.clock.timestamp(restartDelayMs(context, consecutiveFailCount)),
  };
}

/** 10 s times the square of the failures, at most 300 s. */
export const restartDelayMs = (context: SimulationContext, failures: number): number =>
  Math.min(context.timings.ms('crashLoopBase') * failures ** 2, context.timings.ms('crashLoopLongest'));
