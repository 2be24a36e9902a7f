import type { KubeObject } from '../kube-object.js';
import type { ResourceDefinition } from '../resource-definition.js';
import { boolean, listBy, object } from '../schema/schema-builders.js';
import { builtIn } from './built-in.js';
import { ageColumn, column } from './column.js';
import { nameReference, objectReference } from './shared-schemas.js';

export const serviceAccounts: ResourceDefinition = builtIn({
  kind: 'ServiceAccount',
  shortNames: ['sa'],
  schema: object(
    {
      secrets: listBy(['name'], objectReference),
      imagePullSecrets: listBy(['name'], nameReference),
      automountServiceAccountToken: boolean(),
    },
    [],
    'An identity for processes in the cluster.',
  ),
  subresources: [
    { name: 'token', kind: 'TokenRequest', group: 'authentication.k8s.io', version: 'v1', verbs: ['create'] },
  ],
  columns: [
    column('Secrets', (object) => ((object as KubeObject & { secrets?: unknown[] }).secrets ?? []).length),
    ageColumn,
  ],
});
