import { apiError, badRequest, internalError } from '@headgate/kube-sandbox';
import { isFinal } from '../machines/printable-status.js';
import { RESOURCES } from '../resources.js';
import { isTrue } from '../types/condition.js';
import type { VirtualMachineInstance } from '../types/virtual-machine-instance.js';
import {
  runStrategyOf,
  type RunStrategy,
  type StateChangeRequest,
  type VirtualMachine,
} from '../types/virtual-machine.js';
import type { SimulationContext } from '../simulation-context.js';
import { findVmi, isDryRun, requireVm, vmConflict } from './subresource-support.js';

interface Asked {
  namespace?: string;
  name: string;
}

const RECOVERY =
  'VM recovery required: Volume migration failed, leaving some volumes pointing to non-consistent targets; manual intervention is needed to reassign them to their original volumes.';
/** A forced restart gives the guest one second. */
const FORCED_GRACE_SECONDS = 1;

const isLive = (vmi: VirtualMachineInstance | undefined): vmi is VirtualMachineInstance =>
  vmi !== undefined && !isFinal(vmi);

/** @throws ApiError 404, 409 */
export function startVm(
  context: SimulationContext,
  asked: Asked,
  options: { paused?: boolean; dryRun?: string[] },
): void {
  const vm = requireVm(context, asked);
  const vmi = findVmi(context, asked);
  const phase = vmi?.status?.phase ?? '';
  if (isLive(vmi) && !['', 'Unknown'].includes(phase)) throw vmConflict(asked.name, 'VM is already running');
  if (isTrue(vm.status?.conditions, 'ManualRecoveryRequired')) throw vmConflict(asked.name, RECOVERY);
  const strategy = runStrategyOf(vm);
  const start: StateChangeRequest = { action: 'Start', ...(options.paused ? { data: { paused: 'true' } } : {}) };
  switch (strategy) {
    case 'Halted':
      return options.paused ? request(context, vm, [start], options) : setRunning(context, vm, 'Always', options);
    case 'RerunOnFailure':
      if (phase === 'Failed')
        throw vmConflict(asked.name, 'RerunOnFailure does not support starting VM from failed state');
      return request(context, vm, finalThenStart(vmi, start), options);
    case 'Manual':
      return request(context, vm, finalThenStart(vmi, start), options);
    default:
      throw vmConflict(asked.name, `${strategy} does not support manual start requests`);
  }
}

const finalThenStart = (vmi: VirtualMachineInstance | undefined, start: StateChangeRequest): StateChangeRequest[] =>
  vmi ? [{ action: 'Stop', uid: vmi.metadata.uid }, start] : [start];

/** @throws ApiError 404, 409 */
export function stopVm(
  context: SimulationContext,
  asked: Asked,
  options: { gracePeriod?: number; dryRun?: string[] },
): void {
  const vm = requireVm(context, asked);
  const vmi = findVmi(context, asked);
  const strategy = runStrategyOf(vm);
  const { gracePeriod } = options;
  const present = vmi?.spec.terminationGracePeriodSeconds ?? 30;
  const shortens = gracePeriod !== undefined && gracePeriod < present;
  if (['Manual', 'RerunOnFailure', 'Halted'].includes(strategy) && !isLive(vmi))
    throw vmConflict(asked.name, 'VM is not running');
  if (strategy === 'Halted' && !shortens) {
    throw vmConflict(asked.name, 'Halted only supports manual stop requests with a shorter graceperiod');
  }
  if (isLive(vmi) && gracePeriod !== undefined) setGracePeriod(context, vmi, gracePeriod, options);
  if (strategy === 'Halted') return;
  if (strategy === 'Manual' || strategy === 'RerunOnFailure') {
    return request(context, vm, [{ action: 'Stop', uid: vmi!.metadata.uid }], options);
  }
  setRunning(context, vm, 'Halted', options);
}

/** @throws ApiError 400, 404, 409, 500 */
export function restartVm(
  context: SimulationContext,
  asked: Asked,
  options: { gracePeriodSeconds?: number; dryRun?: string[] },
): void {
  const { gracePeriodSeconds } = options;
  if (gracePeriodSeconds !== undefined && gracePeriodSeconds > 0) {
    throw badRequest('For force restart, only gracePeriod=0 is supported for now');
  }
  if (gracePeriodSeconds !== undefined && gracePeriodSeconds < 0) {
    throw badRequest('gracePeriod has to be greater or equal to 0');
  }
  const vm = requireVm(context, asked);
  if (isTrue(vm.status?.conditions, 'VolumesChange')) throw vmConflict(asked.name, RECOVERY);
  const strategy = runStrategyOf(vm);
  if (strategy === 'Halted' || strategy === 'Once') {
    throw vmConflict(asked.name, `RunStategy ${strategy} does not support manual restart requests`);
  }
  const vmi = findVmi(context, asked);
  if (!isLive(vmi)) throw vmConflict(asked.name, 'VM is not running: Halted');
  request(context, vm, [{ action: 'Stop', uid: vmi.metadata.uid }, { action: 'Start' }], options);
  if (gracePeriodSeconds === 0) setGracePeriod(context, vmi, FORCED_GRACE_SECONDS, options);
}

function request(
  context: SimulationContext,
  vm: VirtualMachine,
  changes: StateChangeRequest[],
  options: { dryRun?: string[] },
): void {
  if (vm.status?.stateChangeRequests?.length) {
    throw apiError(
      500,
      'InternalError',
      internalError('unable to complete request: stop/start already underway').message,
    );
  }
  context.store.patch<VirtualMachine>(
    RESOURCES.vm,
    vm.metadata,
    (draft) => {
      draft.status = { ...draft.status, stateChangeRequests: changes };
    },
    { dryRun: isDryRun(options) },
  );
}

function setRunning(
  context: SimulationContext,
  vm: VirtualMachine,
  strategy: RunStrategy,
  options: { dryRun?: string[] },
): void {
  context.store.patch<VirtualMachine>(
    RESOURCES.vm,
    vm.metadata,
    ({ spec }) => {
      if (spec.running === undefined) spec.runStrategy = strategy;
      else spec.running = strategy === 'Always';
    },
    { dryRun: isDryRun(options) },
  );
}

function setGracePeriod(
  context: SimulationContext,
  vmi: VirtualMachineInstance,
  seconds: number,
  options: { dryRun?: string[] },
): void {
  context.store.patch<VirtualMachineInstance>(
    RESOURCES.vmi,
    vmi.metadata,
    ({ spec }) => {
      spec.terminationGracePeriodSeconds = seconds;
    },
    { dryRun: isDryRun(options) },
  );
}
