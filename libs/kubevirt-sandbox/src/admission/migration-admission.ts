import { type AdmissionRequest, deepEqual, denied } from '@headgate/kube-sandbox';
import { isFinal } from '../machines/printable-status.js';
import { RESOURCES } from '../resources.js';
import { findCondition } from '../types/condition.js';
import type { Migration } from '../types/kubevirt-kinds.js';
import type { VirtualMachineInstance } from '../types/virtual-machine-instance.js';
import type { SimulationContext } from '../simulation-context.js';
import { invalidValue, requiredValue } from './cause.js';

const CREATE = 'migration-create-validator.kubevirt.io';
const UPDATE = 'migration-update-validator.kubevirt.io';
export const MIGRATION_FINALIZER = 'kubevirt.io/migrationJobFinalize';
export const VMI_NAME_LABEL = 'kubevirt.io/vmi-name';

export const isFinished = ({ status }: Migration): boolean => ['Succeeded', 'Failed'].includes(status?.phase ?? '');

/** Defaults and rules for migrations. */
export function admitMigrations(context: SimulationContext): void {
  const resources = [RESOURCES.migration];
  context.admission.addMutating<Migration>({
    name: 'migrations-mutator.kubevirt.io',
    resources,
    operations: ['CREATE'],
    admit: ({ object }) => completeMigration(object),
  });
  context.admission.addValidating<Migration>({
    name: CREATE,
    resources,
    operations: ['CREATE'],
    admit: ({ object }) => refuseMigration(context, object),
  });
  context.admission.addValidating<Migration>({
    name: UPDATE,
    resources,
    operations: ['UPDATE'],
    admit: ({ object, oldObject }: AdmissionRequest<Migration>) => {
      if (!oldObject || deepEqual(object.spec, oldObject.spec)) return;
      throw denied(UPDATE, { causes: [invalidValue('spec', "update of Migration object's spec is restricted")] });
    },
  });
}

export function completeMigration(migration: Migration): void {
  const { metadata, spec } = migration;
  metadata.labels = { ...metadata.labels, [VMI_NAME_LABEL]: spec?.vmiName ?? '' };
  metadata.finalizers = [...(metadata.finalizers ?? []), MIGRATION_FINALIZER];
}

/** @throws ApiError 400 or 422 when the VMI can't be migrated now */
export function refuseMigration(context: SimulationContext, { metadata, spec }: Migration): void {
  const { namespace } = metadata;
  const { vmiName } = spec;
  if (!vmiName) throw denied(CREATE, { causes: [requiredValue('spec.vmiName', 'vmiName is missing')] });
  const vmi = context.find<VirtualMachineInstance>(RESOURCES.vmi, namespace, vmiName);
  if (!vmi) throw denied(CREATE, { message: `the VMI "${namespace}/${vmiName}" does not exist` });
  if (isFinal(vmi)) throw denied(CREATE, { message: 'Cannot migrate VMI in finalized state.' });
  const migratable = findCondition(vmi.status?.conditions, 'LiveMigratable');
  if (migratable?.status === 'False') {
    const { reason = '', message = '' } = migratable;
    throw denied(CREATE, { message: `Cannot migrate VMI, Reason: ${reason}, Message: ${message}` });
  }
  const active = activeMigration(context, vmi);
  if (active) {
    throw denied(CREATE, {
      message: `in-flight migration detected. Active migration job (${active.metadata.uid}) is currently already in progress for VMI ${vmiName}.`,
    });
  }
}

/** The unfinished migration of a VMI, including a pending one. */
export const activeMigration = (
  context: SimulationContext,
  { metadata }: VirtualMachineInstance,
): Migration | undefined =>
  context.store.list<Migration>(RESOURCES.migration, {
    namespace: metadata.namespace,
    where: (migration) => migration.spec.vmiName === metadata.name && !isFinished(migration),
  })[0];
