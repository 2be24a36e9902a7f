import type { KubeObject } from '../apiserver/kube-object.js';
import type { ResourceDefinition } from '../apiserver/resource-definition.js';
import { integer, listBy, object, string, withDefault } from '../apiserver/schema/schema-builders.js';

/** A custom kind for tests, with a schema, a default and a status. */
export const machines: ResourceDefinition = {
  group: 'lab.dev',
  plural: 'machines',
  singular: 'machine',
  kind: 'Machine',
  shortNames: ['mc'],
  namespaced: true,
  statusSubresource: true,
  versions: [
    {
      name: 'v1',
      served: true,
      schema: object({
        spec: object({
          size: { ...integer(), minimum: 1 },
          mode: withDefault('auto', string()),
          disks: listBy(['name'], object({ name: string(), bus: string() }, ['name'])),
        }),
        status: object({ phase: string() }),
      }),
      columns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
    },
    { name: 'v1alpha1', served: true, deprecationWarning: 'lab.dev/v1alpha1 Machine is deprecated' },
  ],
};

export const MACHINES = 'machines.lab.dev';
export const MACHINES_PATH = '/apis/lab.dev/v1/namespaces/lab/machines';

export interface Machine extends KubeObject {
  spec: { size: number; mode?: string };
  status?: { phase: string };
}

export function machine(
  name: string,
  spec: Partial<Machine['spec']> = {},
  metadata: Partial<KubeObject['metadata']> = {},
): Machine {
  return {
    apiVersion: 'lab.dev/v1',
    kind: 'Machine',
    metadata: { name, namespace: 'lab', ...metadata },
    spec: { size: 1, ...spec },
  };
}
