import { deepCopy } from '@headgate/kube-sandbox';
import { RESOURCES } from '../resources.js';
import { findCondition, isTrue, removeCondition, setCondition } from '../types/condition.js';
import type { PersistentVolumeClaim } from '../types/core-kinds.js';
import type { DataVolume } from '../types/data-volume.js';
import type {
  MigratedClaim,
  MigratedVolume,
  VirtualMachineInstance,
  Volume,
} from '../types/virtual-machine-instance.js';
import type { VirtualMachine } from '../types/virtual-machine.js';
import type { SimulationContext } from '../simulation-context.js';
import { isHotplugged } from './live-update.js';
import { isFinal } from './printable-status.js';
import { claimNameOf } from './volume-snapshot-statuses.js';

const CHANGE = 'VolumesChange';
const RECOVERY = 'ManualRecoveryRequired';
const CANCELED = 'VolumesChangeCancellation';

/** The effect of changed claims in the template of a running VM whose strategy is `Migration`. */
export interface VolumeUpdate {
  restartRequired?: string;
  failure?: { reason: string; message: string };
  /** Applies the change to the VMI. */
  apply?: (vmi: VirtualMachineInstance) => void;
  /** The volumes for the status of the VM. */
  migratedVolumes?: MigratedVolume[];
}

export const isVolumeMigrating = ({ status }: VirtualMachineInstance): boolean => isTrue(status?.conditions, CHANGE);

const volumesOf = ({ spec }: VirtualMachine): Volume[] => spec.template.spec.volumes ?? [];

/** The claims that the VM names, of the volumes whose claims differ from those of the VMI. */
function changedClaims(vm: VirtualMachine, vmi: VirtualMachineInstance): Map<string, string> {
  const wanted = new Map(volumesOf(vm).map((volume) => [volume.name, claimNameOf(volume)]));
  const changed = (vmi.spec.volumes ?? []).flatMap((volume): [string, string][] => {
    const before = claimNameOf(volume);
    const after = wanted.get(volume.name);
    return before === undefined || after === undefined || before === after ? [] : [[volume.name, after]];
  });
  return new Map(changed);
}

/** Compares the claims of a VM with those of its running VMI, as KubeVirt's VM controller does. */
export function planVolumeUpdate(
  context: SimulationContext,
  vm: VirtualMachine,
  vmi: VirtualMachineInstance,
): VolumeUpdate {
  const changed = changedClaims(vm, vmi);
  const migrated = vmi.status?.migratedVolumes ?? [];
  if (isVolumeMigrating(vmi) && migrated.some(({ volumeName }) => changed.has(volumeName))) {
    return cancellation(context, vm, migrated, changed);
  }
  if (vm.spec.updateVolumesStrategy !== 'Migration' || changed.size === 0) return {};
  const missing = missingDestination(context, vm, changed);
  if (missing !== undefined) {
    const message = `One of the destination volumes doesn't exist: ${missing}`;
    return { apply: (draft) => setChange(context, draft, { status: 'False', message }) };
  }
  const obstacle = unsuitableVolumes(context, vm, vmi, changed) ?? migrationObstacle(vmi, changed);
  if (obstacle !== undefined) return { restartRequired: obstacle };
  const migratedVolumes = (vmi.spec.volumes ?? []).flatMap((volume): MigratedVolume[] => {
    const destination = changed.get(volume.name);
    if (destination === undefined) return [];
    return [
      {
        volumeName: volume.name,
        sourcePVCInfo: migratedClaim(context, vm, claimNameOf(volume)!),
        destinationPVCInfo: migratedClaim(context, vm, destination),
      },
    ];
  });
  return {
    migratedVolumes,
    apply: (draft) => {
      removeCondition((draft.status!.conditions ??= []), CHANGE);
      draft.status!.migratedVolumes = migratedVolumes;
      takeVolumes(vm, draft, migratedVolumes);
    },
  };
}

function cancellation(
  context: SimulationContext,
  vm: VirtualMachine,
  migrated: readonly MigratedVolume[],
  changed: ReadonlyMap<string, string>,
): VolumeUpdate {
  const isReverted =
    changed.size === migrated.length &&
    migrated.every(({ volumeName, sourcePVCInfo }) => changed.get(volumeName) === sourcePVCInfo.claimName);
  if (!isReverted) {
    const message =
      'error encountered while handling volumes update requests: The volume can only be reverted to the previous version during the update';
    return { failure: { reason: 'VolumesUpdateError', message } };
  }
  return {
    apply: (draft) => {
      takeVolumes(vm, draft, migrated);
      setChange(context, draft, { status: 'False', reason: CANCELED });
      delete draft.status!.migratedVolumes;
    },
  };
}

/** Replaces the migrated volumes of a VMI by those of its VM. */
function takeVolumes(vm: VirtualMachine, vmi: VirtualMachineInstance, migrated: readonly MigratedVolume[]): void {
  const names = new Set(migrated.map(({ volumeName }) => volumeName));
  vmi.spec.volumes = vmi.spec.volumes?.map((volume) => {
    const wanted = names.has(volume.name) ? volumesOf(vm).find(({ name }) => name === volume.name) : undefined;
    return wanted ? deepCopy(wanted) : volume;
  });
}

function setChange(
  context: SimulationContext,
  { status }: VirtualMachineInstance,
  change: { status: 'True' | 'False'; reason?: string; message?: string },
): void {
  setCondition((status!.conditions ??= []), { type: CHANGE, ...change }, context.clock.timestamp());
}

function missingDestination(
  context: SimulationContext,
  vm: VirtualMachine,
  changed: ReadonlyMap<string, string>,
): string | undefined {
  const { namespace } = vm.metadata;
  for (const { name, dataVolume } of volumesOf(vm)) {
    const claim = changed.get(name);
    if (claim === undefined || !dataVolume) continue;
    const found = context.find<DataVolume>(RESOURCES.dataVolume, namespace, claim);
    if (!found) return `the DataVolume ${claim} was not found`;
    if (found.status?.phase !== 'Succeeded' && !context.find(RESOURCES.claim, namespace, claim)) {
      return `the PVC ${claim} was not found`;
    }
  }
  return undefined;
}

/** Disks that can't be copied by a migration. */
function unsuitableVolumes(
  context: SimulationContext,
  vm: VirtualMachine,
  { spec }: VirtualMachineInstance,
  changed: ReadonlyMap<string, string>,
): string | undefined {
  const found: Record<string, string[]> = {};
  const note = (kind: string, name: string): void => void (found[kind] = [...(found[kind] ?? []), name]);
  for (const volume of volumesOf(vm)) {
    const { name } = volume;
    if (!changed.has(name)) continue;
    const disk = spec.domain.devices.disks?.find((one) => one.name === name);
    if (isHotplugged(volume)) note('hotplugged', name);
    else if (spec.domain.devices.filesystems?.some((one) => one.name === name)) note('filesystems', name);
    else if (disk?.shareable) note('shareable', name);
    else if (disk?.lun) note('luns', name);
    else if (isUnpopulated(context, vm, volume))
      note("DV storage class isn't a CSI or not using volume populators", name);
  }
  const kinds = [
    'hotplugged',
    'filesystems',
    'shareable',
    'luns',
    "DV storage class isn't a CSI or not using volume populators",
  ];
  const parts = kinds.flatMap((kind) => (found[kind] ? [`${kind}: [${found[kind].join(' ')}]`] : []));
  return parts.length > 0 ? `invalid volumes to update with migration: ${parts.join(' ')}` : undefined;
}

/** An empty DataVolume that nothing fills when the migration uses its claim. */
function isUnpopulated(context: SimulationContext, { metadata }: VirtualMachine, { dataVolume }: Volume): boolean {
  if (!dataVolume) return false;
  const found = context.find<DataVolume>(RESOURCES.dataVolume, metadata.namespace, dataVolume.name);
  if (found?.status?.phase === 'Succeeded') return false;
  const claim = context.find<PersistentVolumeClaim>(RESOURCES.claim, metadata.namespace, dataVolume.name);
  return claim?.spec.dataSourceRef === undefined;
}

function migrationObstacle(
  { status }: VirtualMachineInstance,
  changed: ReadonlyMap<string, string>,
): string | undefined {
  const storage = findCondition(status?.conditions, 'StorageLiveMigratable');
  if (storage?.status === 'False') {
    return `cannot migrate the volumes as the VMI isn't migratable: ${storage.message ?? ''}`;
  }
  const left = status?.volumeStatus?.find(
    ({ name, persistentVolumeClaimInfo }) =>
      persistentVolumeClaimInfo?.accessModes?.includes('ReadWriteOnce') && !changed.has(name),
  );
  return left
    ? `cannot migrate the VM. The volume ${left.name} is RWO and not included in the migration volumes`
    : undefined;
}

function migratedClaim(context: SimulationContext, vm: VirtualMachine, claimName: string): MigratedClaim {
  const claim = context.find<PersistentVolumeClaim>(RESOURCES.claim, vm.metadata.namespace, claimName);
  const { volumeMode } = claim?.spec ?? {};
  return { claimName, ...(volumeMode !== undefined && { volumeMode }) };
}

/** Whether a VMI has been given claims to migrate to, for which it does not request a migration yet. */
export const needsVolumesChange = ({ spec, status }: VirtualMachineInstance): boolean => {
  const sources = new Set(status?.migratedVolumes?.map(({ sourcePVCInfo }) => sourcePVCInfo.claimName));
  return (
    sources.size > 0 &&
    !findCondition(status?.conditions, CHANGE) &&
    (spec.volumes ?? []).some((volume) => {
      const claim = claimNameOf(volume);
      return claim !== undefined && !sources.has(claim);
    })
  );
};

/**
 * Updates the part of a VM's status that describes its volume migration, on a draft and before the VMI's conditions are
 * copied.
 */
export function followVolumeMigration(vm: VirtualMachine, vmi: VirtualMachineInstance | undefined, now: string): void {
  const status = vm.status!;
  const conditions = (status.conditions ??= []);
  const migrated = status.volumeUpdateState?.volumeMigrationState?.migratedVolumes;
  if (!migrated) return;
  const claims = new Map(volumesOf(vm).map((volume) => [volume.name, claimNameOf(volume)]));
  const isRestored = migrated.every(
    ({ volumeName, sourcePVCInfo }) => !claims.has(volumeName) || claims.get(volumeName) === sourcePVCInfo.claimName,
  );
  const change = findCondition(vmi?.status?.conditions, CHANGE);
  if (isRestored || vm.spec.updateVolumesStrategy !== 'Migration') {
    status.volumeUpdateState = {};
    for (const type of [CHANGE, RECOVERY]) removeCondition(conditions, type);
  } else if (!vmi || isFinal(vmi)) {
    if (!isTrue(conditions, CHANGE)) return;
    const reason = 'VMI was removed or was final during the volume migration';
    setCondition(conditions, { type: RECOVERY, status: 'True', reason }, now);
  } else if (change?.status === 'False' && change.reason === CANCELED) status.volumeUpdateState = {};
}
