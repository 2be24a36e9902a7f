import type { ResourceDefinition } from '@headgate/kube-sandbox';
import type { KubevirtRelease } from '../kubevirt-version.js';
import { customResource, served } from './resource-builder.js';
import { anything, flag, integer, labels, list, object, quantity, resource, text } from './schema-builder.js';

const instancetypeSpec = object({
  annotations: labels,
  'cpu!': object({
    dedicatedCPUPlacement: flag,
    'guest!': integer,
    isolateEmulatorThread: flag,
    maxSockets: integer,
    model: text,
    numa: anything,
    realtime: anything,
  }),
  gpus: list(anything),
  hostDevices: list(anything),
  ioThreads: anything,
  ioThreadsPolicy: text,
  launchSecurity: anything,
  'memory!': object({ 'guest!': quantity, hugepages: anything, maxGuest: quantity, overcommitPercent: integer }),
  nodeSelector: labels,
  schedulerName: text,
});

const preferenceSpec = object({
  annotations: labels,
  clock: anything,
  cpu: anything,
  devices: anything,
  features: anything,
  firmware: anything,
  machine: object({ preferredMachineType: text }),
  preferSpreadSocketToCoreRatio: integer,
  preferredArchitecture: text,
  preferredSubdomain: text,
  preferredTerminationGracePeriodSeconds: integer,
  requirements: object({
    architecture: text,
    cpu: object({ 'guest!': integer }),
    memory: object({ 'guest!': quantity }),
  }),
  volumes: object({ preferredStorageClassName: text }),
});

const kind = (
  release: KubevirtRelease,
  name: string,
  namespaced: boolean,
  shortNames: string[],
  spec: typeof preferenceSpec,
): ResourceDefinition =>
  customResource(
    'instancetype.kubevirt.io',
    { kind: name, namespaced, shortNames, ...(namespaced ? { categories: ['all'] } : {}) },
    ['v1beta1', ...(release.since('1.6') ? [] : ['v1alpha2', 'v1alpha1'])].map((version) =>
      served(version, { schema: resource({ 'spec!': spec }) }),
    ),
  );

/** Cluster-wide and namespaced instancetypes and preferences. */
export const instancetypeDefinitions = (release: KubevirtRelease): ResourceDefinition[] => [
  kind(
    release,
    'VirtualMachineInstancetype',
    true,
    ['vminstancetype', 'vminstancetypes', 'vmf', 'vmfs'],
    instancetypeSpec,
  ),
  kind(
    release,
    'VirtualMachineClusterInstancetype',
    false,
    ['vmclusterinstancetype', 'vmclusterinstancetypes', 'vmcf', 'vmcfs'],
    instancetypeSpec,
  ),
  kind(release, 'VirtualMachinePreference', true, ['vmpref', 'vmprefs', 'vmp', 'vmps'], preferenceSpec),
  kind(release, 'VirtualMachineClusterPreference', false, ['vmcp', 'vmcps'], preferenceSpec),
];
