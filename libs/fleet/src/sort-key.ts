import type { InstanceRef } from '@headgate/domain-contracts';

/** Orders by context, namespace, name: the separator sorts before every character that a name may have. */
export const sortKey = ({ context, namespace, name }: InstanceRef): string =>
  `${context}\u0000${namespace}\u0000${name}`;
