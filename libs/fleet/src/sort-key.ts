import type { InstanceRef } from '@headgate/domain-contracts';

/**
 * Sorts by context, namespace, name: the separator sorts before every character of a name. Joined, because a template
 * would keep the parts in memory as well.
 */
export const sortKey = ({ context, namespace, name }: InstanceRef): string => [context, namespace, name].join('\u0000');
