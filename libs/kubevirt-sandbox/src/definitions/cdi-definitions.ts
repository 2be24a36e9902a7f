import type { ResourceDefinition } from '@headgate/kube-sandbox';
import { cdiConditions, dataVolumeSource, dataVolumeSpec, dataVolumeStatus } from './data-volume-schema.js';
import { AGE, column, customResource, served } from './resource-builder.js';
import { anything, flag, integer, list, object, oneOf, resource, text, time } from './schema-builder.js';

const GROUP = 'cdi.kubevirt.io';

type Shape = Parameters<typeof customResource>[1];
type Version = Parameters<typeof served>[1];

const cdi = (shape: Shape, version: Version, versions = ['v1beta1']): ResourceDefinition =>
  customResource(
    GROUP,
    shape,
    versions.map((name) => served(name, version)),
  );

const claimPropertySets = list(object({ accessModes: list(text), volumeMode: text }));

const profileFields = {
  claimPropertySets,
  cloneStrategy: text,
  dataImportCronSourceFormat: text,
  snapshotClass: text,
};

const populator = (kind: string): ResourceDefinition =>
  cdi(
    { kind, namespaced: true },
    {
      schema: resource({
        'spec!': object({ contentType: text, preallocation: flag, source: anything, targetClaim: text }),
        status: anything,
      }),
    },
  );

/** The kinds of the Containerized Data Importer. */
export const cdiDefinitions = (): ResourceDefinition[] => [
  cdi(
    { kind: 'DataVolume', shortNames: ['dv', 'dvs'], categories: ['all'], namespaced: true, statusSubresource: true },
    {
      schema: resource({ 'spec!': dataVolumeSpec, status: dataVolumeStatus }),
      columns: [
        column('Phase', '.status.phase'),
        column('Progress', '.status.progress'),
        column('Restarts', '.status.restartCount', 'integer'),
        AGE,
      ],
    },
  ),
  cdi(
    { kind: 'DataSource', shortNames: ['das'], categories: ['all'], namespaced: true },
    {
      schema: resource({
        'spec!': object({
          'source!': object({
            dataSource: anything,
            pvc: dataVolumeSource.properties!.pvc!,
            snapshot: dataVolumeSource.properties!.snapshot!,
          }),
        }),
        status: object({ conditions: cdiConditions, source: anything }),
      }),
    },
  ),
  cdi(
    { kind: 'DataImportCron', shortNames: ['dic', 'dics'], categories: ['all'], namespaced: true },
    {
      schema: resource({
        'spec!': object({
          garbageCollect: text,
          importsToKeep: integer,
          'managedDataSource!': text,
          retentionPolicy: text,
          'schedule!': text,
          'template!': anything,
        }),
        status: object({
          conditions: cdiConditions,
          lastImportTimestamp: time,
          sourceFormat: text,
          lastImportedPVC: anything,
        }),
      }),
      columns: [column('Format', '.status.sourceFormat')],
    },
  ),
  cdi(
    { kind: 'StorageProfile', namespaced: false, statusSubresource: true },
    {
      schema: resource({
        'spec!': object(profileFields),
        status: object({ ...profileFields, conditions: cdiConditions, provisioner: text, storageClass: text }),
      }),
    },
  ),
  cdi(
    { kind: 'CDI', shortNames: ['cdi', 'cdis'], namespaced: false, plural: 'cdis', singular: 'cdi' },
    {
      schema: resource({
        'spec!': object({
          cloneStrategyOverride: oneOf('copy', 'snapshot', 'csi-clone'),
          config: anything,
          imagePullPolicy: oneOf('Always', 'IfNotPresent', 'Never'),
          infra: anything,
          uninstallStrategy: oneOf('RemoveWorkloads', 'BlockUninstallIfWorkloadsExist'),
          workload: anything,
        }),
        status: anything,
      }),
      columns: [AGE, column('Phase', '.status.phase')],
    },
    ['v1beta1', 'v1alpha1'],
  ),
  cdi({ kind: 'CDIConfig', namespaced: false }, { schema: resource({ 'spec!': anything, status: anything }) }),
  populator('VolumeImportSource'),
  populator('VolumeCloneSource'),
  populator('VolumeUploadSource'),
];

/** A client posts it to get a token for the upload proxy; it is answered and never stored. */
export const uploadTokenDefinition = (): ResourceDefinition =>
  customResource('upload.cdi.kubevirt.io', { kind: 'UploadTokenRequest', namespaced: true, verbs: ['create'] }, [
    served('v1beta1', {
      schema: resource({ 'spec!': object({ 'pvcName!': text }), status: object({ token: text }) }),
    }),
  ]);
