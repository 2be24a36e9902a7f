import type { Capabilities, ContextAbilities } from '../shared/queries/use-capabilities.js';

/** A context that can do everything; overrides say what the test is about. */
export const buildContext = (overrides: Partial<ContextAbilities> = {}): ContextAbilities => ({
  context: 'prod',
  backend: 'kubevirt',
  up: true,
  simulated: false,
  abilities: { power: true, provisioning: true, migration: true, containers: true, consoles: true },
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

export const buildCapabilities = (contexts: ContextAbilities[] = [buildContext()]): Capabilities => ({
  storageClass: 'fast',
  canExpand: true,
  canSnapshot: true,
  bootc: false,
  contexts,
});
