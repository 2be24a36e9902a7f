import type { ResourceDefinition } from '../resource-definition.js';

/** The definition name in the form of API servers: the reversed group, then version and kind. */
export function schemaName({ group, kind }: Pick<ResourceDefinition, 'group' | 'kind'>, version: string): string {
  const [first = '', ...rest] = group.split('.');
  const isKubernetes = group === '' || rest.length === 0 || group.endsWith('.k8s.io');
  return isKubernetes
    ? `io.k8s.api.${first || 'core'}.${version}.${kind}`
    : `${[...rest].reverse().join('.')}.${first}.${version}.${kind}`;
}
