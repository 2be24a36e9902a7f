import { DNS_LABEL_RULE, type BackendTraits } from '@headgate/domain-contracts';
import { LOCAL_NAMESPACE } from './domains/instance-name.js';

export const LIBVIRT_TRAITS: BackendTraits = {
  kind: 'libvirt',
  label: 'libvirt',
  // A libvirt host knows no namespaces: all of its domains are in this one.
  namespaces: { default: LOCAL_NAMESPACE, isOnlyOne: true },
  // The name is the guest's host name as well.
  instanceNames: DNS_LABEL_RULE,
  imageKinds: ['containerDisk', 'builtLocally', 'url', 'iso', 'cloudImage'],
  placementFields: [],
  isSingleHost: true,
};
