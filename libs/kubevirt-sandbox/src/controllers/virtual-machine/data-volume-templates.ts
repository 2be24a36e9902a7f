import { deepCopy } from '@headgate/kube-sandbox';
import { RESOURCES } from '../../resources.js';
import type { DataVolume } from '../../types/data-volume.js';
import type { VirtualMachine } from '../../types/virtual-machine.js';
import { controlledBy, type World } from '../../world.js';

/** Phases with which a VMI may be made: the disk is there, or waits for the VMI itself. */
const READY_PHASES = ['Succeeded', 'WaitForFirstConsumer', 'PendingPopulation'];

/** Makes the DataVolumes of a VM's templates that do not exist, and returns the new ones. */
export function createMissingDataVolumes(world: World, vm: VirtualMachine): DataVolume[] {
  const { namespace } = vm.metadata;
  if (world.without.has('cdi')) return [];
  return (vm.spec.dataVolumeTemplates ?? [])
    .filter(({ metadata }) => !world.find(RESOURCES.dataVolume, namespace, metadata.name))
    .filter(({ metadata }) => !world.find(RESOURCES.claim, namespace, metadata.name))
    .map(({ metadata, spec }) =>
      world.store.create<DataVolume>(RESOURCES.dataVolume, {
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
