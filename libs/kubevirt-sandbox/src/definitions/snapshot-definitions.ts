import type { ResourceDefinition, ResourceVersion } from '@headgate/kube-sandbox';
import type { KubevirtRelease } from '../kubevirt-version.js';
import { column, customResource, served } from './resource-builder.js';
import {
  anything,
  condition,
  failure,
  flag,
  labels,
  list,
  object,
  oneOf,
  resource,
  text,
  time,
  typedReference,
} from './schema-builder.js';

const GROUP = 'snapshot.kubevirt.io';

const versions = (rest: Omit<ResourceVersion, 'name' | 'served'>): ResourceVersion[] => [
  served('v1beta1', rest),
  served('v1alpha1', rest),
];

const snapshot = (): ResourceDefinition =>
  customResource(
    GROUP,
    {
      kind: 'VirtualMachineSnapshot',
      shortNames: ['vmsnapshot', 'vmsnapshots'],
      categories: ['all'],
      namespaced: true,
      statusSubresource: true,
    },
    versions({
      schema: resource({
        'spec!': object({ deletionPolicy: text, failureDeadline: text, 'source!': typedReference }),
        status: object({
          conditions: list(condition),
          creationTime: { ...time, nullable: true },
          error: failure,
          indications: list(text),
          phase: text,
          readyToUse: flag,
          snapshotVolumes: object({ excludedVolumes: list(text), includedVolumes: list(text) }),
          sourceIndications: list(object({ 'indication!': text, 'message!': text })),
          sourceUID: text,
          virtualMachineSnapshotContentName: text,
        }),
      }),
      columns: [
        column('SourceKind', '.spec.source.kind'),
        column('SourceName', '.spec.source.name'),
        column('Phase', '.status.phase'),
        column('ReadyToUse', '.status.readyToUse', 'boolean'),
        column('CreationTime', '.status.creationTime', 'date'),
        column('Error', '.status.error.message'),
      ],
    }),
  );

const content = (): ResourceDefinition =>
  customResource(
    GROUP,
    {
      kind: 'VirtualMachineSnapshotContent',
      shortNames: ['vmsnapshotcontent', 'vmsnapshotcontents'],
      categories: ['all'],
      namespaced: true,
      statusSubresource: true,
    },
    versions({
      schema: resource({ 'spec!': anything, status: anything }),
      columns: [
        column('ReadyToUse', '.status.readyToUse', 'boolean'),
        column('CreationTime', '.status.creationTime', 'date'),
        column('Error', '.status.error.message'),
      ],
    }),
  );

const restore = (release: KubevirtRelease): ResourceDefinition =>
  customResource(
    GROUP,
    {
      kind: 'VirtualMachineRestore',
      shortNames: ['vmrestore', 'vmrestores'],
      categories: ['all'],
      namespaced: true,
      statusSubresource: true,
    },
    versions({
      schema: resource({
        'spec!': object({
          patches: list(text),
          'target!': typedReference,
          'virtualMachineSnapshotName!': text,
          ...(release.since('1.5')
            ? {
                targetReadinessPolicy: {
                  ...oneOf('StopTarget', 'WaitGracePeriod', 'FailImmediate', 'WaitEventually'),
                  default: 'WaitGracePeriod',
                },
              }
            : {}),
          ...(release.since('1.6')
            ? {
                volumeOwnershipPolicy: text,
                volumeRestorePolicy: text,
                volumeRestoreOverrides: list(
                  object({ annotations: labels, labels, restoreName: text, volumeName: text }),
                ),
              }
            : {}),
        }),
        status: object({
          complete: flag,
          conditions: list(condition),
          deletedDataVolumes: list(text),
          restoreTime: time,
          restores: list(
            object({
              dataVolumeName: text,
              'persistentVolumeClaim!': text,
              'volumeName!': text,
              'volumeSnapshotName!': text,
            }),
          ),
        }),
      }),
      columns: [
        column('TargetKind', '.spec.target.kind'),
        column('TargetName', '.spec.target.name'),
        column('Complete', '.status.complete', 'boolean'),
        column('RestoreTime', '.status.restoreTime', 'date'),
      ],
    }),
  );

/** `clone.kubevirt.io`: v1alpha1 everywhere, v1beta1 since 1.5. */
const clone = (release: KubevirtRelease): ResourceDefinition => {
  const rest: Omit<ResourceVersion, 'name' | 'served'> = {
    schema: resource({
      'spec!': object({
        annotationFilters: list(text),
        labelFilters: list(text),
        newMacAddresses: labels,
        newSMBiosSerial: text,
        ...(release.since('1.6') ? { patches: list(text) } : {}),
        'source!': typedReference,
        target: typedReference,
        template: object({ annotationFilters: list(text), labelFilters: list(text) }),
        ...(release.since('1.8') ? { volumeNamePolicy: oneOf('RandomizeNames', 'PrefixTargetName') } : {}),
      }),
      status: object({
        conditions: list(condition),
        creationTime: { ...time, nullable: true },
        phase: text,
        restoreName: { ...text, nullable: true },
        snapshotName: { ...text, nullable: true },
        targetName: { ...text, nullable: true },
      }),
    }),
    columns: [
      column('Phase', '.status.phase'),
      column('SourceVirtualMachine', '.spec.source.name'),
      column('TargetVirtualMachine', '.spec.target.name'),
    ],
  };
  return customResource(
    'clone.kubevirt.io',
    {
      kind: 'VirtualMachineClone',
      shortNames: ['vmclone', 'vmclones'],
      categories: ['all'],
      namespaced: true,
      statusSubresource: true,
    },
    [...(release.since('1.5') ? [served('v1beta1', rest)] : []), served('v1alpha1', rest)],
  );
};

/** `export.kubevirt.io`: v1 and v1beta1 in 1.9, v1beta1 and v1alpha1 before. */
const vmExport = (release: KubevirtRelease): ResourceDefinition => {
  const formats = list(object({ 'format!': text, 'url!': text }));
  const link = object({
    'cert!': text,
    manifests: list(object({ 'type!': text, 'url!': text })),
    volumes: list(object({ formats, 'name!': text })),
  });
  const rest: Omit<ResourceVersion, 'name' | 'served'> = {
    schema: resource({
      'spec!': object({ 'source!': typedReference, tokenSecretRef: text, ttlDuration: text }),
      status: object({
        conditions: list(condition),
        links: object({ external: link, internal: link }),
        phase: text,
        serviceName: text,
        tokenSecretRef: text,
        ttlExpirationTime: time,
        virtualMachineName: text,
      }),
    }),
    columns: [
      column('SourceKind', '.spec.source.kind'),
      column('SourceName', '.spec.source.name'),
      column('Phase', '.status.phase'),
    ],
  };
  return customResource(
    'export.kubevirt.io',
    {
      kind: 'VirtualMachineExport',
      shortNames: ['vmexport', 'vmexports'],
      categories: ['all'],
      namespaced: true,
      statusSubresource: true,
    },
    release.since('1.9')
      ? [
          served('v1', rest),
          served('v1beta1', {
            ...rest,
            deprecationWarning:
              'export.kubevirt.io/v1beta1 VirtualMachineExport is now deprecated and will be removed in a future version.',
          }),
        ]
      : [served('v1beta1', rest), served('v1alpha1', rest)],
  );
};

/** Snapshots, restores, clones and exports of VMs. */
export const snapshotDefinitions = (release: KubevirtRelease): ResourceDefinition[] => [
  snapshot(),
  content(),
  restore(release),
  clone(release),
  vmExport(release),
];
