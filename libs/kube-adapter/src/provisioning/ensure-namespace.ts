import { DomainError } from '@headgate/domain-contracts';
import type { KubeApi } from '../api/kube-api.js';
import { NAMESPACES } from '../api/resources.js';

/** Whether the namespace is there; undefined when the account may not look. */
export async function namespaceExists(api: KubeApi, name: string): Promise<boolean | undefined> {
  try {
    return (await api.find(NAMESPACES, { name })) !== undefined;
  } catch (error) {
    if (DomainError.is(error, 'BACKEND_FORBIDDEN')) return undefined;
    throw error;
  }
}

/** Creates the namespace when it is missing. @throws DomainError BACKEND_FORBIDDEN when the account may not */
export async function ensureNamespace(api: KubeApi, name: string): Promise<void> {
  // Not allowed to look: whether it is there shows when something is created in it.
  if ((await namespaceExists(api, name)) !== false) return;
  try {
    await api.create(NAMESPACES, { metadata: { name } });
  } catch (error) {
    if (!DomainError.is(error, 'ALREADY_EXISTS')) throw error;
  }
}
