import { formatRef, type InstanceRef } from '@headgate/domain-contracts';
import type { InstanceObject } from '../api/incus-objects.js';
import { refOf } from '../engine/api-names.js';
import { instanceOf } from '../inventory/touched-instances.js';

const DEFAULT_PROJECT = 'default';

/**
 * The instances that use an object, each once, sorted.
 * @param usedBy paths such as `/1.0/instances/web?project=lab`, snapshots and other objects among them
 */
export function usersOf(
  context: string,
  usedBy: readonly string[] | null,
  instances: readonly InstanceObject[],
): InstanceRef[] {
  const keys = new Set(
    (usedBy ?? []).flatMap((path) => {
      const found = instanceOf(path, DEFAULT_PROJECT);
      return found ? [`${found.project}/${found.name}`] : [];
    }),
  );
  return instances
    .filter(({ project, name }) => keys.has(`${project}/${name}`))
    .map((instance) => refOf(context, instance))
    .sort((a, b) => (formatRef(a) < formatRef(b) ? -1 : 1));
}
