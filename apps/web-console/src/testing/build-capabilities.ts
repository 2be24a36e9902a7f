import type { Capabilities, ContextCapabilities } from '../shared/queries/use-capabilities.js';

/** A context with every ability, with overrides for the test. */
export const buildContext = (overrides: Partial<ContextCapabilities> = {}): ContextCapabilities => ({
  context: 'prod',
  backend: 'kubevirt',
  label: 'KubeVirt',
  namespaces: { default: 'tailvm', isOnlyOne: false },
  instanceNames: {
    pattern: '[a-z0-9]([a-z0-9-]*[a-z0-9])?',
    maxLength: 63,
    description: 'start and end with a letter or a digit',
  },
  imageKinds: ['containerDisk'],
  isSingleHost: false,
  placementFields: ['instancetype', 'preference', 'node'],
  up: true,
  simulated: false,
  abilities: { power: true, provisioning: true, migration: true, containers: true, consoles: true },
  containerAbilities: {
    inventory: true,
    containers: true,
    containerLogs: true,
    containerFiles: true,
    consoles: true,
    events: true,
    metrics: true,
    snapshots: 'prod does not offer snapshots of containers.',
    cloning: 'prod does not offer clones of containers.',
  },
  sources: {
    image: true,
    containerDisk: true,
    import: true,
    iso: true,
    pvc: true,
    bootc: 'The bootc plugin is not installed.',
  },
  ...overrides,
});

/** A context on one machine: one namespace, and nothing to choose about the placement. */
export const buildSingleMachine = (overrides: Partial<ContextCapabilities> = {}): ContextCapabilities =>
  buildContext({
    context: 'local',
    backend: 'libvirt',
    label: 'libvirt',
    namespaces: { default: 'local', isOnlyOne: true },
    imageKinds: ['containerDisk', 'builtLocally'],
    isSingleHost: true,
    placementFields: [],
    ...overrides,
  });

export const buildCapabilities = (contexts: ContextCapabilities[] = [buildContext()]): Capabilities => ({
  storageClass: 'fast',
  canExpand: true,
  canSnapshot: true,
  bootc: false,
  contexts,
});
