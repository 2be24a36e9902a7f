import type { ResourceDefinition } from '@headgate/kube-sandbox';
import { AGE, column, customResource, served } from './resource-builder.js';
import { anything, failure, flag, int64, labels, object, quantity, resource, text, time } from './schema-builder.js';

const GROUP = 'snapshot.storage.k8s.io';

/** The kinds of the CSI external snapshotter. */
export const storageSnapshotDefinitions = (): ResourceDefinition[] => [
  customResource(GROUP, { kind: 'VolumeSnapshot', shortNames: ['vs'], namespaced: true, statusSubresource: true }, [
    served('v1', {
      schema: resource({
        'spec!': object({
          'source!': object({ persistentVolumeClaimName: text, volumeSnapshotContentName: text }),
          volumeSnapshotClassName: text,
        }),
        status: object({
          boundVolumeSnapshotContentName: text,
          creationTime: time,
          error: failure,
          readyToUse: flag,
          restoreSize: quantity,
        }),
      }),
      columns: [
        column('ReadyToUse', '.status.readyToUse', 'boolean'),
        column('SourcePVC', '.spec.source.persistentVolumeClaimName'),
        column('SourceSnapshotContent', '.spec.source.volumeSnapshotContentName'),
        column('RestoreSize', '.status.restoreSize'),
        column('SnapshotClass', '.spec.volumeSnapshotClassName'),
        column('SnapshotContent', '.status.boundVolumeSnapshotContentName'),
        column('CreationTime', '.status.creationTime', 'date'),
        AGE,
      ],
    }),
  ]),
  customResource(
    GROUP,
    {
      kind: 'VolumeSnapshotClass',
      plural: 'volumesnapshotclasses',
      shortNames: ['vsclass', 'vsclasses'],
      namespaced: false,
    },
    [
      served('v1', {
        schema: resource({ 'driver!': text, 'deletionPolicy!': text, parameters: labels }),
        columns: [column('Driver', '.driver'), column('DeletionPolicy', '.deletionPolicy'), AGE],
      }),
    ],
  ),
  customResource(
    GROUP,
    { kind: 'VolumeSnapshotContent', shortNames: ['vsc', 'vscs'], namespaced: false, statusSubresource: true },
    [
      served('v1', {
        schema: resource({
          'spec!': anything,
          status: object({
            creationTime: int64,
            error: failure,
            readyToUse: flag,
            restoreSize: int64,
            snapshotHandle: text,
          }),
        }),
        columns: [
          column('ReadyToUse', '.status.readyToUse', 'boolean'),
          column('RestoreSize', '.status.restoreSize', 'integer'),
          column('DeletionPolicy', '.spec.deletionPolicy'),
          column('Driver', '.spec.driver'),
          column('VolumeSnapshotClass', '.spec.volumeSnapshotClassName'),
          column('VolumeSnapshot', '.spec.volumeSnapshotRef.name'),
          column('VolumeSnapshotNamespace', '.spec.volumeSnapshotRef.namespace'),
          AGE,
        ],
      }),
    ],
  ),
];

/** The only kind of Multus. */
export const networkAttachmentDefinition = (): ResourceDefinition =>
  customResource(
    'k8s.cni.cncf.io',
    {
      kind: 'NetworkAttachmentDefinition',
      singular: 'network-attachment-definition',
      plural: 'network-attachment-definitions',
      shortNames: ['net-attach-def'],
      namespaced: true,
    },
    [served('v1', { schema: resource({ spec: object({ config: text }) }) })],
  );
