import { DEFAULT_NAMESPACE, DNS_LABEL_RULE, type BackendTraits } from '@headgate/domain-contracts';

export const MEMORY_TRAITS: BackendTraits = {
  kind: 'memory',
  label: 'Memory',
  namespaces: { default: DEFAULT_NAMESPACE, isOnlyOne: false },
  instanceNames: DNS_LABEL_RULE,
  imageKinds: ['containerDisk', 'builtLocally', 'url', 'iso', 'cloudImage'],
  placementFields: ['instancetype', 'preference', 'node'],
};
