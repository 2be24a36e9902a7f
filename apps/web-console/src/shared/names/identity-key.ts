import { countable } from './countable.js';

interface Named {
  readonly name: string;
  readonly namespace: string;
  readonly context: string;
}

/** Plain order of these keys is the order of name, then namespace, then context. No two instances share one. */
export const identityKey = ({ name, namespace, context }: Named): string =>
  `${countable(name)}\0${name}\0${countable(namespace)}\0${namespace}\0${context}`;
