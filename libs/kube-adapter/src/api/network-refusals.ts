import { DomainError, isKubernetesName, refusal, type Refusal } from '@headgate/domain-contracts';
import type { KubeApi } from './kube-api.js';
import { NETWORK_ATTACHMENTS } from './resources.js';

/**
 * Why a card of a VM can't be on a network attachment definition, which is named as `namespace/name`, or by its name in
 * the namespace of the VM.
 * @param field of the request, for the message
 */
export async function networkRefusals(
  api: KubeApi,
  { namespace: own, network, field }: { readonly namespace: string; readonly network: string; readonly field: string },
): Promise<Refusal[]> {
  const [name = '', namespace = own, ...rest] = network.split('/').reverse();
  const unknown = refusal(
    'INVALID_INPUT',
    `${field}: there is no network attachment definition ${network} for ${own}.`,
    'Name one as namespace/name, or by its name in the namespace of the VM.',
  );
  if (rest.length > 0 || !isKubernetesName(name) || !isKubernetesName(namespace)) return [unknown];
  try {
    const found = await api.find(NETWORK_ATTACHMENTS, { namespace, name });
    return found ? [] : [unknown];
  } catch (error) {
    if (!DomainError.is(error, 'NOT_SUPPORTED')) throw error;
    const reason = `${field}: secondary networks need Multus, which is not installed in this cluster.`;
    return [refusal('NOT_SUPPORTED', reason, 'Install Multus.')];
  }
}
