import type { KubeObject } from '../kube-object.js';
import type { ResourceDefinition } from '../resource-definition.js';
import { listOf, object, string } from '../schema/schema-builders.js';
import { builtIn } from './built-in.js';
import { ageColumn, column } from './column.js';
import { conditions } from './shared-schemas.js';

interface Namespace extends KubeObject {
  spec?: { finalizers?: string[] };
  status?: { phase?: string };
}

export const namespaces: ResourceDefinition = builtIn({
  kind: 'Namespace',
  shortNames: ['ns'],
  namespaced: false,
  nameRule: 'label',
  statusSubresource: true,
  schema: object(
    { spec: object({ finalizers: listOf(string()) }), status: object({ phase: string(), conditions }) },
    [],
    'A scope for names.',
  ),
  verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
  subresources: [{ name: 'finalize', verbs: ['update'] }],
  strategy: {
    prepareForCreate: (draft) => {
      const namespace = draft as Namespace;
      namespace.spec = { finalizers: ['kubernetes'] };
      namespace.status = { phase: 'Active' };
      namespace.metadata.labels = {
        ...namespace.metadata.labels,
        'kubernetes.io/metadata.name': namespace.metadata.name,
      };
    },
    holdsDeletion: (object) => ((object as Namespace).spec?.finalizers ?? []).length > 0,
  },
  selectableFields: { 'status.phase': (object) => (object as Namespace).status?.phase ?? '' },
  columns: [column<Namespace>('Status', ({ status }) => status?.phase ?? 'Active'), ageColumn],
});
