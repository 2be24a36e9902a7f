import type { ResourceDefinition, ResourceVersion } from '@headgate/kube-sandbox';
import type { KubevirtRelease } from '../kubevirt-version.js';
import { dataVolumeSpec } from './data-volume-schema.js';
import { vmiSpec } from './domain-schema.js';
import { migrationState, vmiStatus, vmStatus } from './kubevirt-status-schemas.js';
import { AGE, column, conditionColumn, customResource, served } from './resource-builder.js';
import { anything, condition, flag, labels, list, object, phaseTimestamps, resource, text } from './schema-builder.js';

const GROUP = 'kubevirt.io';

/** v1 is the stored version. v1alpha3 is the same under an old name, with a deprecation warning. */
const bothVersions = (rest: Omit<ResourceVersion, 'name' | 'served'>): ResourceVersion[] => [
  served('v1', rest),
  served('v1alpha3', {
    ...rest,
    deprecationWarning: 'kubevirt.io/v1alpha3 is now deprecated and will be removed in a future release.',
  }),
];

const matcher = object({
  inferFromVolume: text,
  inferFromVolumeFailurePolicy: text,
  kind: text,
  name: text,
  revisionName: text,
});

const vmSpec = object({
  dataVolumeTemplates: list(object({ apiVersion: text, kind: text, metadata: anything, 'spec!': dataVolumeSpec })),
  instancetype: matcher,
  preference: matcher,
  runStrategy: text,
  running: flag,
  'template!': object({ metadata: anything, spec: vmiSpec }),
  updateVolumesStrategy: text,
});

const virtualMachine = (): ResourceDefinition =>
  customResource(
    GROUP,
    {
      kind: 'VirtualMachine',
      shortNames: ['vm', 'vms'],
      categories: ['all'],
      namespaced: true,
      statusSubresource: true,
    },
    bothVersions({
      schema: resource({ 'spec!': vmSpec, status: vmStatus }),
      columns: [AGE, column('Status', '.status.printableStatus'), conditionColumn('Ready', 'Ready')],
    }),
  );

const virtualMachineInstance = (): ResourceDefinition =>
  customResource(
    GROUP,
    { kind: 'VirtualMachineInstance', shortNames: ['vmi', 'vmis'], categories: ['all'], namespaced: true },
    bothVersions({
      schema: resource({ 'spec!': vmiSpec, status: vmiStatus }),
      columns: [
        AGE,
        column('Phase', '.status.phase'),
        column('IP', '.status.interfaces[0].ipAddress'),
        column('NodeName', '.status.nodeName'),
        conditionColumn('Ready', 'Ready'),
        { ...conditionColumn('Live-Migratable', 'LiveMigratable'), priority: 1 },
        { ...conditionColumn('Paused', 'Paused'), priority: 1 },
      ],
    }),
  );

const migration = (release: KubevirtRelease): ResourceDefinition =>
  customResource(
    GROUP,
    {
      kind: 'VirtualMachineInstanceMigration',
      shortNames: ['vmim', 'vmims'],
      categories: ['all'],
      namespaced: true,
      statusSubresource: true,
    },
    bothVersions({
      schema: resource({
        'spec!': object({
          vmiName: text,
          ...(release.since('1.6')
            ? { addedNodeSelector: labels, priority: text, sendTo: anything, receive: anything }
            : {}),
        }),
        status: object({
          conditions: list(condition),
          migrationState,
          phase: text,
          phaseTransitionTimestamps: phaseTimestamps,
          synchronizationAddresses: list(text),
        }),
      }),
      columns: [column('Phase', '.status.phase'), column('VMI', '.spec.vmiName')],
    }),
  );

const kubevirt = (): ResourceDefinition =>
  customResource(
    GROUP,
    { kind: 'KubeVirt', shortNames: ['kv', 'kvs'], categories: ['all'], namespaced: true, statusSubresource: true },
    bothVersions({
      schema: resource({ 'spec!': anything, status: anything }),
      columns: [AGE, column('Phase', '.status.phase')],
    }),
  );

const replicaSet = (): ResourceDefinition =>
  customResource(
    GROUP,
    {
      kind: 'VirtualMachineInstanceReplicaSet',
      shortNames: ['vmirs', 'vmirss'],
      categories: ['all'],
      namespaced: true,
      statusSubresource: true,
    },
    bothVersions({ schema: resource({ 'spec!': anything, status: anything }) }),
  );

const preset = (): ResourceDefinition =>
  customResource(
    GROUP,
    {
      kind: 'VirtualMachineInstancePreset',
      shortNames: ['vmipreset', 'vmipresets'],
      categories: ['all'],
      namespaced: true,
    },
    bothVersions({ schema: resource({ spec: anything }) }),
  );

/** The kinds of `kubevirt.io`. Replica sets and presets are stored, but have no effect. */
export const kubevirtDefinitions = (release: KubevirtRelease): ResourceDefinition[] => [
  virtualMachine(),
  virtualMachineInstance(),
  migration(release),
  kubevirt(),
  replicaSet(),
  preset(),
];
