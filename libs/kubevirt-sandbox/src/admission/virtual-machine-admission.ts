import { hash, randomUUID } from 'node:crypto';
import { type AdmissionRequest, deepEqual, denied } from '@headgate/kube-sandbox';
import { applyDisks } from '../machines/vmi-defaults.js';
import { RESOURCES } from '../resources.js';
import { runStrategyOf, type VirtualMachine } from '../types/virtual-machine.js';
import type { SimulationContext } from '../simulation-context.js';
import { invalidValue } from './cause.js';
import { matcherCauses, matcherUpdateCauses, virtualMachineCauses } from './virtual-machine-rules.js';
import { refuseMalformed } from './webhook-schema.js';

const MUTATOR = 'virtualmachines-mutator.kubevirt.io';
const VALIDATOR = 'virtualmachine-validator.kubevirt.io';

/** Defaults and rules for VMs of clients. */
export function admitVirtualMachines(context: SimulationContext): void {
  const resources = [RESOURCES.vm];
  context.admission.addMutating<VirtualMachine>({
    name: MUTATOR,
    resources,
    operations: ['CREATE', 'UPDATE'],
    admit: ({ object }) => {
      refuseMalformed(context, MUTATOR, object);
      const causes = matcherCauses(object);
      if (causes.length > 0) throw denied(MUTATOR, { causes });
      applyVmDefaults(object);
    },
  });
  context.admission.addValidating<VirtualMachine>({
    name: VALIDATOR,
    resources,
    operations: ['CREATE', 'UPDATE'],
    admit: (request) => {
      // Finalizers may always be removed from an object that is being deleted.
      if (request.object.metadata.deletionTimestamp) return;
      const causes = [...virtualMachineCauses(request.object, context), ...matcherUpdateCauses(request)];
      if (causes.length > 0) throw denied(VALIDATOR, { causes });
      refuseDuringSnapshotOrRestore(request);
      if (request.object.spec.running !== undefined) {
        request.warn?.('spec.running is deprecated, please use spec.runStrategy instead.');
      }
    },
  });
}

/** The defaults of the mutating webhook: a VM that is read back differs from the one that was written. */
export function applyVmDefaults(vm: VirtualMachine): void {
  vm.metadata.annotations = {
    ...vm.metadata.annotations,
    'kubevirt.io/latest-observed-api-version': 'v1',
    'kubevirt.io/storage-observed-api-version': 'v1',
  };
  const spec = vm.spec?.template?.spec;
  if (!spec?.domain?.devices) return;
  spec.architecture ??= 'amd64';
  spec.domain.machine = { ...spec.domain.machine, type: spec.domain.machine?.type || 'q35' };
  spec.domain.resources ??= {};
  const seed = `${vm.metadata.namespace}/${vm.metadata.name}`;
  spec.domain.firmware = {
    ...spec.domain.firmware,
    uuid: spec.domain.firmware?.uuid ?? firmwareUuid(seed),
    serial: spec.domain.firmware?.serial ?? randomUUID(),
  };
  if (Array.isArray(spec.volumes)) applyDisks(spec);
}

/** KubeVirt derives the firmware's UUID from the name, so that a VM that is created again keeps it. */
function firmwareUuid(seed: string): string {
  const hex = hash('sha1', seed);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function refuseDuringSnapshotOrRestore({ object, oldObject }: AdmissionRequest<VirtualMachine>): void {
  if (!oldObject) return;
  const { snapshotInProgress, restoreInProgress } = oldObject.status ?? {};
  const restarted = runStrategyOf(object) !== runStrategyOf(oldObject);
  const storage = ({ spec }: VirtualMachine): unknown => [
    spec.template.spec.volumes,
    spec.template.spec.domain.devices.disks,
  ];
  if (snapshotInProgress) {
    const what = restarted
      ? 'running state'
      : deepEqual(storage(object), storage(oldObject))
        ? undefined
        : 'disks or volumes';
    if (what) {
      const message = `Cannot update vm ${what} until snapshot "${snapshotInProgress}" completes`;
      throw denied(VALIDATOR, { causes: [invalidValue('spec', message)] });
    }
  }
  if (restoreInProgress && restarted && runStrategyOf(object) !== 'Halted') {
    const message = `Cannot update VM runStrategy until restore "${restoreInProgress}" completes`;
    throw denied(VALIDATOR, { causes: [invalidValue('spec.runStrategy', message)] });
  }
}
