import type { JsonPatchOperation } from '../api/json-patch.js';
import type { KubeObject } from '../api/kube-object.js';
import type { DataVolumeObject, DataVolumeTemplate, GuestVolume, VmObject } from '../api/object-types.js';
import { claimNameOf } from '../hardware/vm-hardware.js';
import { replaceIfSame, VM_PATHS } from '../hardware/planned-change.js';
import { uidTest } from '../hardware/scale.js';
import { ANNOTATION, LABEL } from '../labels.js';

/**
 * What a move changes in its VM, so that it can be completed or undone after a restart of the service. Kept on the new
 * volume.
 */
export interface MoveRecord {
  /** The uid of the live instance that uses the disk. */
  readonly instance: string;
  /** The storage class that receives the disk. */
  readonly storage: string;
  /** The volume of the VM before the move. */
  readonly volume: GuestVolume;
  /** The VM's own template of the old volume. */
  readonly template?: DataVolumeTemplate;
  /** The old volume, if it belongs to the VM and is deleted with it. */
  readonly owned?: { readonly kind: 'DataVolume' | 'PersistentVolumeClaim'; readonly uid: string };
}

const STRATEGY_PATH = '/spec/updateVolumesStrategy';
const TEMPLATES_PATH = '/spec/dataVolumeTemplates';

/** @returns undefined for a volume that is not the destination of a move */
export function recordOf({ metadata }: KubeObject): MoveRecord | undefined {
  const text = metadata.annotations?.[ANNOTATION.diskMove];
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as MoveRecord;
  } catch {
    return undefined;
  }
}

const strategyIs = (vm: VmObject, value: string): JsonPatchOperation[] => [
  { op: 'test', path: STRATEGY_PATH, value: vm.spec?.updateVolumesStrategy ?? null },
  { op: 'add', path: STRATEGY_PATH, value },
];

function replaceVolume(vm: VmObject, volume: GuestVolume): JsonPatchOperation[] {
  const volumes = vm.spec?.template?.spec?.volumes ?? [];
  const after = volumes.map((one) => (one.name === volume.name ? volume : one));
  return [uidTest(vm.metadata.uid), ...replaceIfSame(VM_PATHS.volumes, volumes, after)];
}

function replaceTemplate(vm: VmObject, name: string, template: DataVolumeTemplate): JsonPatchOperation[] {
  const templates = vm.spec?.dataVolumeTemplates ?? [];
  const after = templates.map((one) => (one.metadata.name === name ? template : one));
  return replaceIfSame(TEMPLATES_PATH, templates, after);
}

/** Lets the VM use the new volume. KubeVirt migrates the running guest to it. */
export function redirection(vm: VmObject, { volume, template, instance }: MoveRecord, target: DataVolumeObject) {
  const { name = '', annotations: _none, ...metadata } = target.metadata;
  const annotations = vm.metadata.annotations;
  const key = `/metadata/annotations/${ANNOTATION.movedDuring.replace('/', '~1')}`;
  return [
    ...replaceVolume(vm, { name: volume.name, dataVolume: { name } }),
    ...(template
      ? replaceTemplate(vm, template.metadata.name ?? '', {
          metadata: { name, labels: metadata.labels },
          spec: target.spec,
        })
      : []),
    ...strategyIs(vm, 'Migration'),
    annotations
      ? { op: 'add' as const, path: key, value: instance }
      : { op: 'add' as const, path: '/metadata/annotations', value: { [ANNOTATION.movedDuring]: instance } },
  ];
}

/**
 * Lets the VM use its old volume again. KubeVirt then cancels the migration.
 * @param isSameRun whether the guest still runs that used the old volume. For any other, KubeVirt must not copy its
 *   disk to the old volume.
 */
export const restoration = (vm: VmObject, record: MoveRecord, target: string, isSameRun: boolean) => [
  ...replaceVolume(vm, record.volume),
  ...(record.template ? replaceTemplate(vm, target, record.template) : []),
  ...strategyIs(vm, isSameRun ? 'Migration' : 'Replacement'),
];

/** Whether an object belongs to a VM: it has its label, or the VM owns it. */
export const isOwnedBy = ({ metadata }: KubeObject, vm: VmObject): boolean =>
  metadata.labels?.[LABEL.vm] === vm.metadata.name ||
  metadata.ownerReferences?.some(({ uid }) => uid === vm.metadata.uid) === true;

export const namesVolume = (volumes: readonly GuestVolume[] | undefined, disk: string, claim: string): boolean =>
  volumes?.some((volume) => volume.name === disk && claimNameOf(volume) === claim) === true;

export const sourceClaim = ({ volume }: MoveRecord): string => claimNameOf(volume) ?? '';

/** The empty volume that receives a disk. */
export const destination = (
  { namespace, vm, name, bytes }: Readonly<Record<'namespace' | 'vm' | 'name' | 'bytes', string>>,
  record: MoveRecord,
): KubeObject & { readonly spec: object } => ({
  metadata: {
    name,
    namespace,
    labels: { [LABEL.vm]: vm },
    annotations: { [ANNOTATION.diskMove]: JSON.stringify(record) },
  },
  spec: {
    source: { blank: {} },
    storage: { storageClassName: record.storage, resources: { requests: { storage: bytes } } },
  },
});
