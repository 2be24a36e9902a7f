import type { ContextQuery, CreatedView, InstancePath } from '@headgate/api-contracts';
import {
  DomainError,
  formatRef,
  type InstanceKind,
  type InstanceQuery,
  type InstanceRef,
} from '@headgate/domain-contracts';

/** The instance that a path and its query name. */
export const instanceQuery = (
  kind: InstanceKind,
  { ns, name }: InstancePath,
  { context }: ContextQuery,
): InstanceQuery => ({ kind, namespace: ns, name, context });

/**
 * @param named the actions that the error lists, including those with a route of their own
 * @throws DomainError UNKNOWN_ACTION
 */
export function expectAction<A extends string>(
  text: string,
  actions: readonly A[],
  named: readonly string[] = actions,
): A {
  const action = actions.find((one) => one === text);
  if (action) return action;
  throw new DomainError(
    'UNKNOWN_ACTION',
    `The action must be one of ${named.join(', ')}; "${text.slice(0, 40)}" is not.`,
  );
}

/** The response to a creation. JSON omits undefined fields. */
export const presentCreated = ({
  ref,
  task,
  warnings = [],
}: {
  readonly ref: InstanceRef;
  readonly task?: string;
  readonly warnings?: readonly string[];
}): CreatedView => ({
  name: ref.name,
  namespace: ref.namespace,
  ref: formatRef(ref),
  task,
  ...(warnings.length > 0 && { warnings: [...warnings] }),
});
