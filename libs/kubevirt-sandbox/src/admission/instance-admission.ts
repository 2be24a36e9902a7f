import { deepCopy, deepEqual, denied } from '@headgate/kube-sandbox';
import { applyVmiDefaults } from '../machines/vmi-defaults.js';
import { RESOURCES } from '../resources.js';
import type { VirtualMachineInstance } from '../types/virtual-machine-instance.js';
import type { SimulationContext } from '../simulation-context.js';
import { invalidValue } from './cause.js';
import { RESERVED_LABELS, reservedLabelCauses } from './reserved-labels.js';
import { validateVmiSpec } from './vmi-spec-rules.js';

const CREATE = 'virtualmachineinstances-create-validator.kubevirt.io';
const UPDATE = 'virtualmachineinstances-update-validator.kubevirt.io';

/** Defaults and rules for VMIs of clients. The controllers write to the store directly and skip them. */
export function admitInstances(context: SimulationContext): void {
  const resources = [RESOURCES.vmi];
  context.admission.addMutating<VirtualMachineInstance>({
    name: 'virtualmachineinstances-mutator.kubevirt.io',
    resources,
    operations: ['CREATE', 'UPDATE'],
    admit: ({ operation, object, oldObject }) => {
      if (operation === 'CREATE') complete(context, object);
      // Changes of the status by a user are silently reverted.
      else if (oldObject?.status) object.status = deepCopy(oldObject.status);
      else delete object.status;
    },
  });
  context.admission.addValidating<VirtualMachineInstance>({
    name: CREATE,
    resources,
    operations: ['CREATE'],
    admit: ({ object }) => {
      const causes = [
        ...validateVmiSpec(object.spec, 'spec', context),
        ...reservedLabelCauses(object.metadata.labels, 'metadata.labels'),
      ];
      if (causes.length > 0) throw denied(CREATE, { causes });
    },
  });
  context.admission.addValidating<VirtualMachineInstance>({
    name: UPDATE,
    resources,
    operations: ['UPDATE'],
    admit: ({ object, oldObject }) => {
      if (!oldObject) return;
      if (!deepEqual(object.spec, oldObject.spec)) {
        throw denied(UPDATE, {
          causes: [{ reason: 'FieldValueNotSupported', message: 'update of VMI object is restricted' }],
        });
      }
      const changed = RESERVED_LABELS.find(
        (label) => object.metadata.labels?.[label] !== oldObject.metadata.labels?.[label],
      );
      if (changed) {
        const message = 'modification of the following reserved kubevirt.io/ labels on a VMI object is prohibited';
        throw denied(UPDATE, { causes: [invalidValue('metadata.labels', message)] });
      }
    },
  });
}

function complete(context: SimulationContext, vmi: VirtualMachineInstance): void {
  if (!vmi.spec?.domain?.devices) return;
  applyVmiDefaults(vmi.spec, context.kubevirt?.spec.configuration?.liveUpdateConfiguration?.maxHotplugRatio);
  const finalizer = context.release.vmiFinalizer;
  vmi.metadata.finalizers = [...(vmi.metadata.finalizers ?? []).filter((name) => name !== finalizer), finalizer];
  vmi.status = {
    phase: 'Pending',
    phaseTransitionTimestamps: [{ phase: 'Pending', phaseTransitionTimestamp: context.clock.timestamp() }],
  };
}
