import { deepCopy } from '@headgate/kube-sandbox';
import { RESOURCES } from '../../resources.js';
import type { DataVolume } from '../../types/data-volume.js';
import type { VirtualMachine } from '../../types/virtual-machine.js';
import { controlledBy, type SimulationContext } from '../../simulation-context.js';

/** Phases in which a VMI may be created: the disk is ready, or waits for the VMI. */
const READY_PHASES = ['Succeeded', 'WaitForFirstConsumer', 'PendingPopulation'];

/** Creates the missing DataVolumes of a VM's templates, and returns the new ones. */
export function createMissingDataVolumes(context: SimulationContext, vm: VirtualMachine): DataVolume[] {
  const { namespace } = vm.metadata;
  // A restore in place deletes the disks before it creates them again.
  if (context.without.has('cdi') || vm.status?.restoreInProgress) return [];
  return (vm.spec.dataVolumeTemplates ?? [])
    .filter(({ metadata }) => !context.find(RESOURCES.dataVolume, namespace, metadata.name))
    .filter(({ metadata }) => !context.find(RESOURCES.claim, namespace, metadata.name))
    .map(({ metadata, spec }) =>
      context.store.create<DataVolume>(RESOURCES.dataVolume, {
        apiVersion: 'cdi.kubevirt.io/v1beta1',
        kind: 'DataVolume',
        metadata: {
          name: metadata.name,
          namespace,
          labels: { 'kubevirt.io/created-by': vm.metadata.uid!, ...metadata.labels },
          annotations: { ...metadata.annotations },
          ownerReferences: [controlledBy(vm)],
        },
        spec: deepCopy(spec),
      }),
    );
}

/** Makes a VM the owner of the DataVolumes that its templates name and that have no owner. */
export function adoptDataVolumes(context: SimulationContext, vm: VirtualMachine): void {
  if (context.without.has('cdi')) return;
  for (const { metadata } of vm.spec.dataVolumeTemplates ?? []) {
    const found = context.find<DataVolume>(RESOURCES.dataVolume, vm.metadata.namespace, metadata.name);
    if (!found || found.metadata.deletionTimestamp || found.metadata.ownerReferences?.some((owner) => owner.controller))
      continue;
    context.store.patch<DataVolume>(RESOURCES.dataVolume, found.metadata, (draft) => {
      draft.metadata.ownerReferences = [...(draft.metadata.ownerReferences ?? []), controlledBy(vm)];
    });
  }
}

export const isReadyToStart = ({ status }: DataVolume): boolean => READY_PHASES.includes(status?.phase ?? '');
