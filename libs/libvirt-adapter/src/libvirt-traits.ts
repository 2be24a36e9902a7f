import type { BackendTraits } from '@headgate/domain-contracts';
import { LOCAL_NAMESPACE } from './domains/instance-name.js';

export const LIBVIRT_TRAITS: BackendTraits = {
  kind: 'libvirt',
  label: 'libvirt',
  // A libvirt host knows no namespaces: all of its domains are in this one.
  namespaces: { default: LOCAL_NAMESPACE, isOnlyOne: true },
  instanceNames: {
    pattern: '[a-z0-9][a-z0-9-]*',
    maxLength: 63,
    description: 'be lower-case letters, digits and "-", and start with a letter or a digit',
  },
  imageKinds: ['containerDisk', 'builtLocally'],
  placementFields: [],
};
