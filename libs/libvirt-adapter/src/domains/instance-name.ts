import { isInstanceName, MAX_NAME_LENGTH } from '@headgate/domain-contracts';

/** The namespace of every domain in a libvirt context. */
export const LOCAL_NAMESPACE = 'local';

/**
 * The name of a domain in the API. libvirt allows any name (`Win 10`). A name that the API does not allow is converted
 * to allowed characters and gets the beginning of its UUID, so that it stays unique.
 */
export function instanceNameOf(domainName: string, uuid: string): string {
  if (isInstanceName(domainName)) return domainName;
  const suffix = `-${uuid.slice(0, 8)}`;
  const letters = domainName
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, MAX_NAME_LENGTH - suffix.length);
  return `${letters || 'domain'}${suffix}`;
}
