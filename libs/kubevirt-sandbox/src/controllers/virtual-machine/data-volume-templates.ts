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

export const isReadyToStart = ({ status }: DataVolume): boolean => READY_PHASES.includes(status?.phase ?? '');
