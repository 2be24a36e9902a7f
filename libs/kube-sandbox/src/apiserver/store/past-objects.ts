import { keyOf, type KubeObject, type ObjectKey } from '../kube-object.js';
import { compareKeys } from './resource-table.js';
import type { StoreEvent } from './store-event.js';

const idOf = ({ namespace = '', name }: ObjectKey): string => `${namespace}/${name}`;

/** The objects before `changes` (oldest first), by namespace and name. */
export function pastObjects(
  present: Iterable<KubeObject>,
  changes: readonly StoreEvent[],
  namespace: string | undefined,
): KubeObject[] {
  const before = new Map<string, KubeObject | undefined>();
  for (const { object, previous } of changes) {
    const id = idOf(keyOf(object));
    if (!before.has(id)) before.set(id, previous);
  }
  const untouched = [...present].filter((object) => !before.has(idOf(keyOf(object))));
  const changed = [...before.values()].filter(
    (object) => object !== undefined && (namespace === undefined || object.metadata.namespace === namespace),
  );
  return [...untouched, ...(changed as KubeObject[])].sort((a, b) => compareKeys(keyOf(a), keyOf(b)));
}
