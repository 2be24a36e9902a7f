import type { BackendTraits } from '@headgate/domain-contracts';

/** The project that every server has. */
export const DEFAULT_PROJECT = 'default';

export const INCUS_TRAITS: BackendTraits = {
  kind: 'incus',
  label: 'Incus',
  namespaces: { default: DEFAULT_PROJECT, isOnlyOne: false },
  // The name is the host name of the container.
  instanceNames: {
    pattern: '[a-z]([a-z0-9-]*[a-z0-9])?',
    maxLength: 63,
    description: 'start with a letter and end with a letter or a digit',
  },
  imageKinds: [],
  placementFields: [],
};
