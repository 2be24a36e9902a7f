import { badRequest, deepEqual, denied, generateName, type KubeObject, type StatusCause } from '@headgate/kube-sandbox';
import { unsnapshottable } from '../machines/unsnapshottable.js';
import { RESOURCES } from '../resources.js';
import type { TypedReference, VmClone, VmExport, VmRestore, VmSnapshot } from '../types/kubevirt-kinds.js';
import type { VirtualMachine } from '../types/virtual-machine.js';
import type { SimulationContext } from '../simulation-context.js';
import { invalidValue, requiredValue } from './cause.js';

const SNAPSHOT = 'virtualmachinesnapshot-validator.snapshot.kubevirt.io';
const RESTORE = 'virtualmachinerestore-validator.snapshot.kubevirt.io';
const CLONE = 'vm-clone-validator.kubevirt.io';
const EXPORT = 'virtualmachineexport-validator.export.kubevirt.io';

/** Validates snapshots, restores, clones and exports. */
export function admitSnapshots(context: SimulationContext): void {
  onCreate<VmSnapshot>(context, RESOURCES.snapshot, SNAPSHOT, ({ spec }) => {
    if (!context.gates.isOn('Snapshot')) throw denied(SNAPSHOT, { message: 'snapshot feature gate not enabled' });
    return referenceCauses(spec.source, 'spec.source');
  });
  onCreate<VmRestore>(context, RESOURCES.restore, RESTORE, (restore) => restoreCauses(context, restore));
  onCreate<VmExport>(context, RESOURCES.export, EXPORT, ({ spec }) => {
    if (!context.gates.isOn('VMExport')) throw denied(EXPORT, { message: 'vm export feature gate not enabled' });
    return exportCauses(spec.source);
  });
  context.admission.addMutating<VmClone>({
    name: 'virtualmachineclones-mutator.kubevirt.io',
    resources: [RESOURCES.clone],
    operations: ['CREATE'],
    admit: ({ object }) => {
      if (!object.spec?.source) return;
      const name = generateName(`clone-${object.spec.source.name}-`);
      object.spec.target ??= { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name };
      object.spec.target.name ||= name;
    },
  });
  onCreate<VmClone>(context, RESOURCES.clone, CLONE, (clone) => cloneCauses(context, clone));
}

function onCreate<T extends KubeObject & { spec: unknown }>(
  context: SimulationContext,
  resource: string,
  name: string,
  check: (object: T) => StatusCause[],
): void {
  context.admission.addValidating<T>({
    name,
    resources: [resource],
    operations: ['CREATE', 'UPDATE'],
    admit: ({ object, oldObject }) => {
      if (oldObject) {
        if (deepEqual(object.spec, oldObject.spec)) return;
        throw denied(name, { causes: [invalidValue('spec', 'spec in immutable after creation')] });
      }
      const causes = check(object);
      if (causes.length > 0) throw denied(name, { causes });
    },
  });
}

function referenceCauses({ apiGroup, kind }: TypedReference, field: string): StatusCause[] {
  if (!apiGroup) return [{ reason: 'FieldValueNotFound', message: 'missing apiGroup', field: `${field}.apiGroup` }];
  if (apiGroup !== 'kubevirt.io') return [invalidValue(`${field}.apiGroup`, 'invalid apiGroup')];
  return kind === 'VirtualMachine' ? [] : [invalidValue(`${field}.kind`, 'invalid kind')];
}

function restoreCauses(context: SimulationContext, { metadata, spec }: VmRestore): StatusCause[] {
  if (!context.gates.isOn('Snapshot')) throw denied(RESTORE, { message: 'Snapshot/Restore feature gate not enabled' });
  const causes = referenceCauses(spec.target, 'spec.target');
  if (causes.length > 0) return causes;
  const { namespace } = metadata;
  const other = context.store.list<VmRestore>(RESOURCES.restore, {
    namespace,
    where: (restore) => restore.spec.target.name === spec.target.name && !restore.status?.complete,
  })[0];
  if (other) return [invalidValue('spec.target', `VirtualMachineRestore "${other.metadata.name}" in progress`)];
  const running = context.find(RESOURCES.vmi, namespace, spec.target.name) !== undefined;
  if (running && !context.release.since('1.5')) {
    return [invalidValue('spec.target', `VirtualMachine "${spec.target.name}" is not stopped`)];
  }
  // The webhook forgets the causes of the patches when the snapshot does not exist.
  const hasSnapshot = context.find(RESOURCES.snapshot, namespace, spec.virtualMachineSnapshotName) !== undefined;
  const patches = hasSnapshot ? patchCauses(spec.patches, 'spec.patches') : [];
  const policies = [...patches, ...restorePolicyCauses(context, spec)];
  return policies.length > 0 ? policies : foreignTarget(context, namespace, spec);
}

function restorePolicyCauses(context: SimulationContext, spec: VmRestore['spec']): StatusCause[] {
  const { volumeRestorePolicy, volumeOwnershipPolicy, volumeRestoreOverrides = [] } = spec;
  const policies = ['RandomizeNames', 'InPlace', ...(context.release.since('1.8') ? ['PrefixTargetName'] : [])];
  const unknown =
    volumeRestorePolicy && !policies.includes(volumeRestorePolicy)
      ? [invalidValue('spec.volumeRestorePolicy', `volume restore policy "${volumeRestorePolicy}" doesn't exist`)]
      : [];
  const unowned =
    volumeOwnershipPolicy && !['Vm', 'None'].includes(volumeOwnershipPolicy)
      ? [invalidValue('spec.volumeOwnershipPolicy', `volume ownership policy "${volumeOwnershipPolicy}" doesn't exist`)]
      : [];
  const overrides = volumeRestoreOverrides.flatMap(({ volumeName, restoreName, labels, annotations }, index) => {
    const field = `spec.volumeRestoreOverrides[${index}]`;
    return [
      ...(volumeName ? [] : [requiredValue(`${field}.volumeName`, 'must provide a volume name')]),
      ...(restoreName || labels || annotations
        ? []
        : [requiredValue(field, 'must provide at least one overriden field')]),
    ];
  });
  return [...unknown, ...unowned, ...overrides];
}

const PATCHED_PATHS = ['/spec/', '/metadata/labels/', '/metadata/annotations/'];

function patchCauses(patches: readonly string[] | undefined, field: string): StatusCause[] {
  return (patches ?? []).flatMap((text) => {
    const path = pathOf(text);
    return path !== undefined && PATCHED_PATHS.some((prefix) => path.startsWith(prefix))
      ? []
      : [invalidValue(field, 'patching is valid only for elements under /spec/ only')];
  });
}

function pathOf(operation: string): string | undefined {
  try {
    const { path } = JSON.parse(operation) as { path?: unknown };
    return typeof path === 'string' ? path : undefined;
  } catch {
    return undefined;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function foreignTarget(
  context: SimulationContext,
  namespace: string | undefined,
  spec: VmRestore['spec'],
): StatusCause[] {
  const snapshot = context.find<VmSnapshot>(RESOURCES.snapshot, namespace, spec.virtualMachineSnapshotName);
  if (!snapshot || snapshot.spec.source.name === spec.target.name) return [];
  if (snapshot.status?.virtualMachineSnapshotContentName) return [];
  throw badRequest(
    `admission webhook "${RESTORE}" denied the request: snapshot content name is nil in vmSnapshot status`,
  );
}

function cloneCauses(context: SimulationContext, { metadata, spec }: VmClone): StatusCause[] {
  if (!context.gates.isOn('Snapshot')) throw denied(CLONE, { message: 'snapshot feature gate is not enabled' });
  const { source, target } = spec;
  // The webhook prints some fields as Go names them, and does not compare the group with the kind.
  if (!['VirtualMachine', 'VirtualMachineSnapshot'].includes(source.kind))
    return [invalidValue('spec.Source.Kind', 'Source kind is not supported')];
  if (!source.apiGroup) return [invalidValue('spec.Source.APIGroup', "Source's APIGroup cannot be empty")];
  if (target && target.kind !== 'VirtualMachine')
    return [invalidValue('spec.Target.Kind', 'Target kind is not supported')];
  if (source.kind === 'VirtualMachine' && target?.name === source.name) {
    return [
      invalidValue('spec.target.name', 'Target name cannot be equal to source name when both are VirtualMachines'),
    ];
  }
  const patches = (spec.patches ?? []).flatMap((patch, index) =>
    isJson(patch) ? [] : [invalidValue(`spec.patches[${index}]`, `patch is not valid JSON (${patch})`)],
  );
  if (patches.length > 0) return patches;
  const vm =
    source.kind === 'VirtualMachine'
      ? context.find<VirtualMachine>(RESOURCES.vm, metadata.namespace, source.name)
      : undefined;
  const obstacle = vm && !context.release.since('1.5') ? unsnapshottable(vm) : undefined;
  return obstacle ? [invalidValue('spec.source', obstacle)] : [];
}

function exportCauses({ apiGroup = '', kind, name }: TypedReference): StatusCause[] {
  if (!name) return [invalidValue('spec.source.name', 'Virtual Machine name must not be empty')];
  const rules: Record<string, readonly [string, string]> = {
    VirtualMachine: ['kubevirt.io', 'VM API group must be kubevirt.io'],
    VirtualMachineSnapshot: ['snapshot.kubevirt.io', 'VMSnapshot API group must be snapshot.kubevirt.io'],
    PersistentVolumeClaim: ['', 'PVC API group must be missing or blank'],
  };
  const rule = rules[kind];
  if (!rule) return [invalidValue('spec.source.kind', 'invalid kind')];
  return apiGroup === rule[0] ? [] : [invalidValue('spec.source.APIGroup', rule[1])];
}
