import { RESOURCES } from '../resources.js';
import type { ControllerRevision } from '../types/core-kinds.js';
import type { VirtualMachineInstance } from '../types/virtual-machine-instance.js';
import type { VirtualMachine, VmSpec } from '../types/virtual-machine.js';
import { controlledBy, type SimulationContext } from '../simulation-context.js';

const prefixOf = ({ metadata }: Pick<VirtualMachine, 'metadata'>): string => `revision-start-vm-${metadata.uid}-`;

export const startRevisionName = (vm: Pick<VirtualMachine, 'metadata'>): string =>
  `${prefixOf(vm)}${vm.metadata.generation ?? 1}`;

/** The copy of a VM's spec with which its VMI was started. */
export function startRevision(vm: VirtualMachine): ControllerRevision {
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: startRevisionName(vm),
      namespace: vm.metadata.namespace,
      ownerReferences: [controlledBy(vm)],
    },
    data: { spec: vm.spec },
    revision: vm.metadata.generation ?? 1,
  };
}

/** Stores the spec of a VM that is being started, in place of the one of its previous start. */
export function recordStart(context: SimulationContext, vm: VirtualMachine): void {
  const name = startRevisionName(vm);
  for (const { metadata } of context.store.ownedBy(RESOURCES.controllerRevision, vm.metadata.uid!)) {
    if (metadata.name.startsWith(prefixOf(vm)) && metadata.name !== name)
      context.discard(RESOURCES.controllerRevision, metadata);
  }
  if (!context.find(RESOURCES.controllerRevision, vm.metadata.namespace, name))
    context.store.create(RESOURCES.controllerRevision, startRevision(vm));
}

/** The spec of the VM when its VMI was started; undefined when it was not recorded. */
export function specAtStart(context: SimulationContext, vmi: VirtualMachineInstance): VmSpec | undefined {
  const name = vmi.status?.virtualMachineRevisionName ?? '';
  const revision = context.find<ControllerRevision>(RESOURCES.controllerRevision, vmi.metadata.namespace, name);
  return (revision?.data as { spec?: VmSpec } | undefined)?.spec;
}
