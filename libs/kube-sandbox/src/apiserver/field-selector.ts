import { badRequest } from './api-error.js';
import type { KubeObject } from './kube-object.js';
import type { ResourceDefinition } from './resource-definition.js';

export interface FieldSelector {
  matches: (object: KubeObject) => boolean;
  /** The name in `metadata.name=x`: a watch of one object, authorized with that name. */
  name?: string;
}

const TERM = /^([^=!]+?)\s*(==|=|!=)\s*(.*)$/;

/**
 * Parses `status.phase!=Running,spec.nodeName=n1`.
 * @throws ApiError 400 for labels that the resource does not offer.
 */
export function parseFieldSelector(text: string, definition: ResourceDefinition): FieldSelector {
  const terms = text
    .split(',')
    .filter(Boolean)
    .map((term) => parseTerm(term, definition));
  const name = terms.find(({ label, negated }) => label === 'metadata.name' && !negated)?.value;
  return {
    matches: (object) => terms.every(({ read, value, negated }) => (read(object) === value) !== negated),
    ...(name === undefined ? {} : { name }),
  };
}

function parseTerm(term: string, definition: ResourceDefinition) {
  const [, label = '', operator, value = ''] = TERM.exec(term.trim()) ?? [];
  if (!operator) throw badRequest(`invalid selector: '${term}'; can't understand '${term}'`);
  return { label, value, negated: operator === '!=', read: readerOf(label, definition) };
}

function readerOf(label: string, { selectableFields, builtIn }: ResourceDefinition): (object: KubeObject) => string {
  if (label === 'metadata.name') return ({ metadata }) => metadata.name;
  if (label === 'metadata.namespace') return ({ metadata }) => metadata.namespace ?? '';
  if (selectableFields && Object.hasOwn(selectableFields, label)) return selectableFields[label]!;
  // Built-in kinds with fields of their own have another message than those without.
  throw badRequest(
    builtIn && !selectableFields
      ? `"${label}" is not a known field selector: only "metadata.name", "metadata.namespace"`
      : `field label not supported: ${label}`,
  );
}
