import {
  DEFAULT_NAMESPACE,
  DNS_LABEL_RULE,
  matchesNameRule,
  PLACEMENT_FIELDS,
  type BackendTraits,
  type Refusal,
} from '@headgate/domain-contracts';

export const KUBEVIRT_TRAITS: BackendTraits = {
  kind: 'kubevirt',
  label: 'KubeVirt',
  namespaces: { default: DEFAULT_NAMESPACE, isOnlyOne: false },
  instanceNames: DNS_LABEL_RULE,
  imageKinds: ['containerDisk', 'url', 'iso'],
  placementFields: PLACEMENT_FIELDS,
};

/** The refusal of a name that Kubernetes does not accept, if it is one. */
export function nameRefusals(name: string): Refusal[] {
  const { instanceNames } = KUBEVIRT_TRAITS;
  if (matchesNameRule(instanceNames, name)) return [];
  const reason = `name must ${instanceNames.description}; "${name}" does not.`;
  return [{ code: 'INVALID_NAME', reason, remedy: 'Choose another name.' }];
}
