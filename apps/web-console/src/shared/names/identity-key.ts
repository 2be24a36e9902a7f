import { naturalSortKey } from './natural-sort-key.js';

interface Named {
  readonly name: string;
  readonly namespace: string;
  readonly context: string;
}

/** A unique key per instance. Keys sort by name, then namespace, then context. */
export const identityKey = ({ name, namespace, context }: Named): string =>
  `${naturalSortKey(name)}\0${name}\0${naturalSortKey(namespace)}\0${namespace}\0${context}`;
