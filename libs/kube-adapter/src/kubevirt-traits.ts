import { DEFAULT_NAMESPACE, DNS_LABEL_RULE, PLACEMENT_FIELDS, type BackendTraits } from '@headgate/domain-contracts';

export const KUBEVIRT_TRAITS: BackendTraits = {
  kind: 'kubevirt',
  label: 'KubeVirt',
  namespaces: { default: DEFAULT_NAMESPACE, isOnlyOne: false },
  instanceNames: DNS_LABEL_RULE,
  imageKinds: ['containerDisk'],
  placementFields: PLACEMENT_FIELDS,
};
