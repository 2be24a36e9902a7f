import { fieldForbidden, fieldRequired, forbidden, type StatusCause } from '../api-error.js';
import { deepCopy, deepEqual } from '../deep-copy.js';
import type { KubeObject } from '../kube-object.js';
import type { ResourceDefinition } from '../resource-definition.js';
import {
  anything,
  boolean,
  listOf,
  mapOf,
  object,
  oneOf,
  setOf,
  string,
  withDefault,
} from '../schema/schema-builders.js';
import { builtIn } from './built-in.js';
import { ageColumn, column } from './column.js';
import {
  conditions,
  labelSelector,
  nodeAffinity,
  objectReference,
  quantities,
  resources,
  typedReference,
} from './shared-schemas.js';

interface Claim extends KubeObject {
  spec: {
    accessModes?: string[];
    storageClassName?: string;
    volumeName?: string;
    volumeMode?: string;
    resources?: { requests?: { storage?: string } };
  };
  status?: { phase?: string; capacity?: { storage?: string }; accessModes?: string[] };
}

interface Volume extends KubeObject {
  spec: {
    capacity?: { storage?: string };
    accessModes?: string[];
    persistentVolumeReclaimPolicy?: string;
    claimRef?: { namespace?: string; name?: string };
    storageClassName?: string;
    volumeMode?: string;
  };
  status?: { phase?: string; reason?: string };
}

interface StorageClass extends KubeObject {
  provisioner: string;
  reclaimPolicy?: string;
  volumeBindingMode?: string;
  allowVolumeExpansion?: boolean;
}

const SHORT_MODES: Record<string, string> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};
const shortModes = (modes: string[] = []): string => modes.map((mode) => SHORT_MODES[mode] ?? mode).join(',');

const accessModes = listOf(oneOf(Object.keys(SHORT_MODES)), 'The access modes of the volume.');
const volumeMode = withDefault('Filesystem', oneOf(['Block', 'Filesystem']));

const claimSchema = object(
  {
    spec: object(
      {
        accessModes,
        selector: labelSelector,
        resources,
        volumeName: string('The name of the bound volume.'),
        storageClassName: string('The storage class; empty for none, absent for the default class.'),
        volumeMode,
        dataSource: typedReference,
        dataSourceRef: typedReference,
        volumeAttributesClassName: string(),
      },
      [],
      'The requested resources.',
    ),
    status: object({
      phase: string('Pending, Bound or Lost.'),
      accessModes: listOf(string()),
      capacity: quantities,
      conditions,
      allocatedResources: quantities,
      allocatedResourceStatuses: mapOf(string()),
      currentVolumeAttributesClassName: string(),
      modifyVolumeStatus: anything(),
    }),
  },
  [],
  'A request for a volume.',
);

/** @throws ApiError 403 for a new size before the claim is bound */
function validateClaim(object: KubeObject, previous: KubeObject | undefined): StatusCause[] {
  const { spec } = object as Claim;
  const causes: StatusCause[] = [];
  if (!spec?.accessModes?.length) causes.push(fieldRequired('spec.accessModes', 'at least 1 access mode is required'));
  if (spec?.resources?.requests?.storage === undefined) causes.push(fieldRequired('spec.resources[storage]'));
  if (!previous || causes.length > 0) return causes;
  const fixed = (claim: Claim): object => {
    const copy = deepCopy(claim.spec) as Claim['spec'] & { volumeAttributesClassName?: string };
    delete copy.resources;
    delete copy.volumeAttributesClassName;
    // These fields can be set once: by binding, or by the retroactive default class.
    if (!(previous as Claim).spec.volumeName) delete copy.volumeName;
    if ((previous as Claim).spec.storageClassName === undefined) delete copy.storageClassName;
    return copy;
  };
  const isBound = (previous as Claim).status?.phase === 'Bound';
  const resized = !deepEqual(spec.resources, (previous as Claim).spec.resources);
  if (!deepEqual(fixed(object as Claim), fixed(previous as Claim))) {
    causes.push(
      fieldForbidden(
        'spec',
        'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims',
      ),
    );
  } else if (resized && !isBound) {
    const subject = { group: '', resource: 'persistentvolumeclaims', name: object.metadata.name };
    throw forbidden(subject, 'Only bound persistent volume claims can be expanded');
  }
  return causes;
}

export const persistentVolumeClaims: ResourceDefinition = builtIn({
  kind: 'PersistentVolumeClaim',
  shortNames: ['pvc'],
  schema: claimSchema,
  statusSubresource: true,
  strategy: {
    prepareForCreate: (draft) => {
      (draft as Claim).status = { phase: 'Pending' };
    },
    validate: validateClaim,
  },
  columns: [
    column<Claim>('Status', ({ metadata, status }) =>
      metadata.deletionTimestamp ? 'Terminating' : (status?.phase ?? ''),
    ),
    column<Claim>('Volume', ({ spec }) => spec.volumeName ?? ''),
    column<Claim>('Capacity', ({ spec, status }) => (spec.volumeName ? (status?.capacity?.storage ?? '') : '')),
    column<Claim>('Access Modes', ({ spec, status }) => (spec.volumeName ? shortModes(status?.accessModes) : '')),
    column<Claim>('StorageClass', ({ spec }) => spec.storageClassName ?? ''),
    column<Claim>('VolumeAttributesClass', () => '<unset>'),
    ageColumn,
    column<Claim>('VolumeMode', ({ spec }) => spec.volumeMode ?? 'Filesystem', 1),
  ],
});

const SOURCES = ['csi', 'hostPath', 'local', 'nfs', 'iscsi', 'rbd', 'cephfs', 'fc'];

export const persistentVolumes: ResourceDefinition = builtIn({
  kind: 'PersistentVolume',
  shortNames: ['pv'],
  namespaced: false,
  statusSubresource: true,
  schema: object(
    {
      spec: object({
        ...Object.fromEntries(SOURCES.map((source) => [source, anything()])),
        capacity: quantities,
        accessModes,
        persistentVolumeReclaimPolicy: withDefault('Retain', string()),
        storageClassName: string(),
        volumeMode,
        mountOptions: listOf(string()),
        claimRef: objectReference,
        nodeAffinity,
        volumeAttributesClassName: string(),
      }),
      status: object({ phase: string(), message: string(), reason: string(), lastPhaseTransitionTime: string() }),
    },
    [],
    'A volume in the cluster.',
  ),
  strategy: {
    prepareForCreate: (draft) => {
      (draft as Volume).status = { phase: 'Available' };
    },
  },
  columns: [
    column<Volume>('Capacity', ({ spec }) => spec.capacity?.storage ?? ''),
    column<Volume>('Access Modes', ({ spec }) => shortModes(spec.accessModes)),
    column<Volume>('Reclaim Policy', ({ spec }) => spec.persistentVolumeReclaimPolicy ?? ''),
    column<Volume>('Status', ({ metadata, status }) =>
      metadata.deletionTimestamp ? 'Terminating' : (status?.phase ?? ''),
    ),
    column<Volume>('Claim', ({ spec }) => (spec.claimRef ? `${spec.claimRef.namespace}/${spec.claimRef.name}` : '')),
    column<Volume>('StorageClass', ({ spec }) => spec.storageClassName ?? ''),
    column<Volume>('VolumeAttributesClass', () => '<unset>'),
    column<Volume>('Reason', ({ status }) => status?.reason ?? ''),
    ageColumn,
    column<Volume>('VolumeMode', ({ spec }) => spec.volumeMode ?? '', 1),
  ],
});

const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class';

export const storageClasses: ResourceDefinition = builtIn({
  group: 'storage.k8s.io',
  kind: 'StorageClass',
  plural: 'storageclasses',
  shortNames: ['sc'],
  namespaced: false,
  schema: object(
    {
      provisioner: string('The driver that provisions the volumes.'),
      parameters: mapOf(string()),
      reclaimPolicy: withDefault('Delete', oneOf(['Delete', 'Retain', 'Recycle'])),
      mountOptions: setOf(string()),
      allowVolumeExpansion: boolean('Whether claims can be expanded.'),
      volumeBindingMode: withDefault('Immediate', oneOf(['Immediate', 'WaitForFirstConsumer'])),
      allowedTopologies: listOf(anything()),
    },
    ['provisioner'],
    'A class of volumes.',
  ),
  columns: [
    {
      ...column<StorageClass>(
        'Name',
        ({ metadata }) => `${metadata.name}${metadata.annotations?.[DEFAULT_CLASS] === 'true' ? ' (default)' : ''}`,
      ),
      format: 'name',
    },
    column<StorageClass>('Provisioner', ({ provisioner }) => provisioner),
    column<StorageClass>('ReclaimPolicy', ({ reclaimPolicy }) => reclaimPolicy ?? 'Delete'),
    column<StorageClass>('VolumeBindingMode', ({ volumeBindingMode }) => volumeBindingMode ?? 'Immediate'),
    column<StorageClass>('AllowVolumeExpansion', ({ allowVolumeExpansion }) => allowVolumeExpansion ?? false),
    ageColumn,
  ],
});
