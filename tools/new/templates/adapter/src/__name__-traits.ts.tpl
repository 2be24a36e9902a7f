import { DEFAULT_NAMESPACE, DNS_LABEL_RULE, type BackendTraits } from '@headgate/domain-contracts';

export const __NAME___TRAITS: BackendTraits = {
  kind: '__name__',
  label: '__Name__',
  namespaces: { default: DEFAULT_NAMESPACE, isOnlyOne: false },
  instanceNames: DNS_LABEL_RULE,
  imageKinds: ['containerDisk'],
  placementFields: [],
};
