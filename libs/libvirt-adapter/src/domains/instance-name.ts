import { isInstanceName, MAX_NAME_LENGTH } from '@headgate/domain-contracts';

/** The namespace that every domain of a libvirt context stands in. */
export const LOCAL_NAMESPACE = 'local';

/**
 * The name under which the API shows a domain. libvirt takes any name (`Win 10`); one that the API's rules refuse is
 * shown in their letters, with the beginning of its UUID so that it stays unique.
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
