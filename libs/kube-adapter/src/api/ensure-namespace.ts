import { DomainError } from '@headgate/domain-contracts';
import type { KubeApi } from './kube-api.js';
import { NAMESPACES } from './resources.js';

/** Whether the namespace exists; undefined when the account may not read namespaces. */
export async function namespaceExists(api: KubeApi, name: string): Promise<boolean | undefined> {
  try {
    return (await api.find(NAMESPACES, { name })) !== undefined;
  } catch (error) {
    if (DomainError.is(error, 'BACKEND_FORBIDDEN')) return undefined;
    throw error;
  }
}

/**
 * Creates the namespace when it is missing.
 * @throws DomainError BACKEND_FORBIDDEN when the account may not create it
 */
export async function ensureNamespace(api: KubeApi, name: string): Promise<void> {
  // An account that may not read namespaces: creating an object in it will show whether it exists.
  if ((await namespaceExists(api, name)) !== false) return;
  try {
    await api.create(NAMESPACES, { metadata: { name } });
  } catch (error) {
    if (!DomainError.is(error, 'ALREADY_EXISTS')) throw error;
  }
}
