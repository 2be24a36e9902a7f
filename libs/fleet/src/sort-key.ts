import type { InstanceRef } from '@headgate/domain-contracts';

/** Sorts by context, namespace, name: the separator sorts before every character of a name. */
export const sortKey = ({ context, namespace, name }: InstanceRef): string =>
  `${context}\u0000${namespace}\u0000${name}`;
