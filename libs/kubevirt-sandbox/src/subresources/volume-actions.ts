import { apiError, badRequest, deepCopy, denied, type StatusCause } from '@headgate/kube-sandbox';
import { virtualMachineCauses } from '../admission/virtual-machine-rules.js';
import { hotplugDiskProblem, MIGRATING } from '../machines/hotplug-rules.js';
import { addVolume, removeVolume } from '../machines/volume-requests.js';
import { isHotplugged } from '../machines/live-update.js';
import { claimNameOf } from '../machines/volume-snapshot-statuses.js';
import { isMigrating } from '../machines/printable-status.js';
import { RESOURCES } from '../resources.js';
import type { VirtualMachineInstance, VmiSpec, Volume } from '../types/virtual-machine-instance.js';
import type { AddVolumeOptions, VirtualMachine, VolumeRequest } from '../types/virtual-machine.js';
import { isControlledBy, type SimulationContext } from '../simulation-context.js';
import {
  findVm,
  findVmi,
  isDryRun,
  optionsOf,
  requireVm,
  requireVmi,
  vmConflict,
  vmiConflict,
} from './subresource-support.js';

interface Asked {
  namespace?: string;
  name: string;
}

const NO_BODY = 'Request with no body, a new name is expected as the request body';

function checkGate(context: SimulationContext, verb: 'Add' | 'Remove'): void {
  if (context.gates.hotplug !== 'off') return;
  throw badRequest(
    context.release.since('1.6')
      ? 'Enable DeclarativeHotplugVolumes or HotplugVolumes feature gate to use this API.'
      : `Unable to ${verb} Volume because HotplugVolumes feature gate is not enabled.`,
  );
}

function addOptions(context: SimulationContext, body: unknown): AddVolumeOptions {
  checkGate(context, 'Add');
  if (body === undefined || body === null) throw badRequest(NO_BODY);
  const options = optionsOf<AddVolumeOptions>(body);
  if (!options.name) throw badRequest('AddVolumeOptions requires name to be set');
  if (!options.disk) throw badRequest('AddVolumeOptions requires disk to not be nil');
  if (!options.volumeSource) throw badRequest('AddVolumeOptions requires VolumeSource to not be nil');
  return options as AddVolumeOptions;
}

const refuse = (causes: StatusCause[]): never => {
  throw denied('virtualmachine-validator.kubevirt.io', { causes });
};

/** The webhook's rules for requests in the status of a VM; nothing checks them when the VM itself is patched. */
function checkRequest(context: SimulationContext, asked: Asked, options?: AddVolumeOptions): void {
  if (context.gates.hotplug === 'declarative') return;
  const problem = options && hotplugDiskProblem(context, options.disk, options.name, 'AddVolume request');
  if (problem) refuse([{ reason: 'FieldValueInvalid', message: problem, field: 'Status.volumeRequests' }]);
  const vmi = findVmi(context, asked);
  if (vmi && isMigrating(vmi)) refuse([{ reason: 'FieldValueNotSupported', message: MIGRATING, field: 'spec' }]);
}

const sourceName = ({ volumeSource }: AddVolumeOptions): string | undefined =>
  claimNameOf({ name: '', ...volumeSource });

function addConflict(volumes: readonly Volume[], options: AddVolumeOptions): string | undefined {
  const source = sourceName(options);
  for (const volume of volumes) {
    if (volume.name === options.name) {
      return `Unable to add volume [${options.name}] because volume with that name already exists`;
    }
    if (source && claimNameOf(volume) === source) {
      return `Unable to add volume source [${source}] because it already exists`;
    }
  }
  return undefined;
}

/** @throws ApiError 400, 404, 409, 422 */
export function addVolumeToVm(context: SimulationContext, asked: Asked, body: unknown): void {
  const options = addOptions(context, body);
  const vm = requireVm(context, asked);
  const pending = vm.status?.volumeRequests?.some(({ addVolumeOptions }) => addVolumeOptions?.name === options.name);
  if (pending) throw vmConflict(asked.name, `add volume request for volume [${options.name}] already exists`);
  const obstacle = addConflict(vm.spec.template.spec.volumes ?? [], options);
  if (obstacle) throw vmConflict(asked.name, obstacle);
  checkRequest(context, asked, options);
  change(context, vm, { addVolumeOptions: options }, (spec) => addVolume(spec, options), isDryRun(options));
}

/** @throws ApiError 400, 404, 409 */
export function removeVolumeFromVm(context: SimulationContext, asked: Asked, body: unknown): void {
  const options = removeOptions(context, body);
  const vm = requireVm(context, asked);
  const volume = findVolume(vm.spec.template.spec, options.name);
  if (!volume) throw vmConflict(asked.name, `Unable to remove volume [${options.name}] because it does not exist`);
  if (!isHotplugged(volume)) {
    throw vmConflict(asked.name, `Unable to remove volume [${options.name}] because it is not hotpluggable`);
  }
  checkRequest(context, asked);
  const { name } = volume;
  change(context, vm, { removeVolumeOptions: { name } }, (spec) => removeVolume(spec, name), isDryRun(options));
}

function removeOptions(context: SimulationContext, body: unknown): { name: string; dryRun?: string[] } {
  checkGate(context, 'Remove');
  if (body === undefined || body === null) throw badRequest(NO_BODY);
  const options = optionsOf<{ name: string }>(body);
  if (!options.name) throw badRequest('RemoveVolumeOptions requires name to be set');
  return options as { name: string };
}

/** A volume by its own name or by its claim's. */
const findVolume = ({ volumes = [] }: VmiSpec, name: string): Volume | undefined =>
  volumes.find((volume) => volume.name === name) ?? volumes.find((volume) => claimNameOf(volume) === name);

/** Recorded in the status for the controller, or written into the VM immediately, depending on the feature gates. */
function change(
  context: SimulationContext,
  vm: VirtualMachine,
  request: VolumeRequest,
  edit: (spec: VmiSpec) => void,
  dryRun: boolean,
): void {
  const edited = deepCopy(vm);
  edit(edited.spec.template.spec);
  const causes = virtualMachineCauses(edited, context);
  if (causes.length > 0) refuse(causes);
  context.store.patch<VirtualMachine>(
    RESOURCES.vm,
    vm.metadata,
    (draft) => {
      if (context.gates.hotplug === 'declarative') return edit(draft.spec.template.spec);
      const volumeRequests = [...(draft.status?.volumeRequests ?? []), request];
      draft.status = { ...draft.status, volumeRequests };
    },
    { dryRun },
  );
}

/** The same on a VMI: until its next start. @throws ApiError 400, 404, 409 */
export function changeVolumesOfVmi(
  context: SimulationContext,
  asked: Asked,
  body: unknown,
  what: 'add' | 'remove',
): void {
  const add = what === 'add' ? addOptions(context, body) : undefined;
  const remove = what === 'remove' ? removeOptions(context, body) : undefined;
  const vmi = requireVmi(context, asked);
  if (vmi.status?.phase !== 'Running') throw vmiConflict(asked.name, 'VMI is not running');
  const vm = findVm(context, asked);
  if (context.gates.hotplug === 'declarative' && vm && isControlledBy(vmi, vm)) {
    throw apiError(400, 'BadRequest', `VMI ${asked.namespace}/${asked.name} is owned by a VM`);
  }
  const obstacle = add && addConflict(vmi.spec.volumes ?? [], add);
  if (obstacle) throw vmiConflict(asked.name, obstacle);
  if (add) checkRequest(context, asked, add);
  const volume = remove && findVolume(vmi.spec, remove.name);
  if (remove && !volume)
    throw vmiConflict(asked.name, `Unable to remove volume [${remove.name}] because it does not exist`);
  context.store.patch<VirtualMachineInstance>(
    RESOURCES.vmi,
    vmi.metadata,
    ({ spec }) => (add ? addVolume(spec, add) : removeVolume(spec, volume!.name)),
    { dryRun: isDryRun(add ?? remove!) },
  );
}
