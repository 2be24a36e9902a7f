import { deepCopy } from '@headgate/kube-sandbox';
import { FAULT_ANNOTATION } from '../faults.js';
import type { VirtualMachineInstance } from '../types/virtual-machine-instance.js';
import type { VirtualMachine } from '../types/virtual-machine.js';
import { controlledBy, type SimulationContext } from '../simulation-context.js';
import { expandedSpec } from './instancetype-expansion.js';
import { startRevisionName } from './start-revision.js';
import { applyVmiDefaults, macAddressFor } from './vmi-defaults.js';

export const VM_FINALIZER = 'kubevirt.io/virtualMachineControllerFinalize';

/**
 * The VMI that starts a VM.
 * @throws ExpansionFailure when its instancetype or preference can't be used
 */
export function buildInstance(
  context: SimulationContext,
  vm: VirtualMachine,
  now: string,
  paused = false,
): VirtualMachineInstance {
  const spec = expandedSpec(context, vm);
  applyVmiDefaults(spec, context.kubevirt?.spec.configuration?.liveUpdateConfiguration?.maxHotplugRatio);
  for (const nic of spec.domain.devices.interfaces ?? []) {
    nic.macAddress ??= macAddressFor(`${vm.metadata.uid}/${nic.name}`);
  }
  if (paused) spec.startStrategy = 'Paused';
  const { labels = {}, annotations: { [FAULT_ANNOTATION]: _inherited, ...annotations } = {} } =
    vm.spec.template.metadata ?? {};
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: {
      name: vm.metadata.name,
      namespace: vm.metadata.namespace,
      labels: deepCopy(labels),
      annotations: {
        'kubevirt.io/latest-observed-api-version': 'v1',
        'kubevirt.io/storage-observed-api-version': 'v1',
        'kubevirt.io/vm-generation': String(vm.metadata.generation ?? 1),
        ...deepCopy(annotations),
      },
      finalizers: [VM_FINALIZER, context.release.vmiFinalizer],
      ownerReferences: [controlledBy(vm)],
    },
    spec,
    status: {
      phase: 'Pending',
      runtimeUser: 107,
      guestOSInfo: {},
      activePods: {},
      currentCPUTopology: {
        sockets: spec.domain.cpu!.sockets,
        cores: spec.domain.cpu!.cores,
        threads: spec.domain.cpu!.threads,
      },
      phaseTransitionTimestamps: [{ phase: 'Pending', phaseTransitionTimestamp: now }],
      virtualMachineRevisionName: startRevisionName(vm),
    },
  };
}
