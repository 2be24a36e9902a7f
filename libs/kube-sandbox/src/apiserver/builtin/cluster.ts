import { fieldInvalid, type StatusCause } from '../api-error.js';
import type { KubeObject } from '../kube-object.js';
import type { ResourceDefinition } from '../resource-definition.js';
import { anything, atomic, integer, listBy, listOf, object, oneOf, string } from '../schema/schema-builders.js';
import { builtIn } from './built-in.js';
import { ageColumn, column } from './column.js';
import type { CustomResourceDefinition } from './custom-resource-definition.js';
import { labelSelector } from './shared-schemas.js';

const RBAC = 'rbac.authorization.k8s.io';

const rules = {
  ...listOf(
    object(
      {
        apiGroups: listOf(string()),
        resources: listOf(string()),
        verbs: listOf(string()),
        resourceNames: listOf(string()),
        nonResourceURLs: listOf(string()),
      },
      ['verbs'],
    ),
    'The permissions.',
  ),
  nullable: true,
};

const roleRef = atomic(
  object({ apiGroup: string(), kind: oneOf(['Role', 'ClusterRole']), name: string() }, ['kind', 'name']),
);
const subjects = listOf(
  object(
    { apiGroup: string(), kind: oneOf(['User', 'Group', 'ServiceAccount']), name: string(), namespace: string() },
    ['kind', 'name'],
  ),
);

interface Binding extends KubeObject {
  roleRef: { kind: string; name: string };
}

const roleColumn = column<Binding>('Role', ({ roleRef: { kind, name } }) => `${kind}/${name}`);
const createdAt = column('Created At', ({ metadata }) => metadata.creationTimestamp ?? '');

const rbac: ResourceDefinition[] = [
  builtIn({
    group: RBAC,
    kind: 'Role',
    nameRule: 'path',
    schema: object({ rules }, [], 'Permissions within a namespace.'),
    columns: [createdAt],
  }),
  builtIn({
    group: RBAC,
    kind: 'ClusterRole',
    nameRule: 'path',
    namespaced: false,
    schema: object(
      { rules, aggregationRule: object({ clusterRoleSelectors: listOf(labelSelector) }) },
      [],
      'Permissions in the whole cluster.',
    ),
    columns: [createdAt],
  }),
  builtIn({
    group: RBAC,
    kind: 'RoleBinding',
    nameRule: 'path',
    schema: object({ roleRef, subjects }, ['roleRef'], 'Grants a role in a namespace.'),
    columns: [roleColumn, ageColumn],
  }),
  builtIn({
    group: RBAC,
    kind: 'ClusterRoleBinding',
    nameRule: 'path',
    namespaced: false,
    schema: object({ roleRef, subjects }, ['roleRef'], 'Grants a role in the whole cluster.'),
    columns: [roleColumn, ageColumn],
  }),
];

interface Lease extends KubeObject {
  spec?: { holderIdentity?: string; leaseDurationSeconds?: number };
}

function validateLease(object: KubeObject): StatusCause[] {
  const seconds = (object as Lease).spec?.leaseDurationSeconds ?? 1;
  return seconds > 0 ? [] : [fieldInvalid('spec.leaseDurationSeconds', seconds, 'must be greater than 0')];
}

const leases = builtIn({
  group: 'coordination.k8s.io',
  kind: 'Lease',
  schema: object(
    {
      spec: object({
        holderIdentity: string(),
        leaseDurationSeconds: integer(),
        acquireTime: string(),
        renewTime: string(),
        leaseTransitions: integer(),
        strategy: string(),
        preferredHolder: string(),
      }),
    },
    [],
    'A lock that its holder renews.',
  ),
  strategy: { validate: validateLease },
  columns: [column<Lease>('Holder', ({ spec }) => spec?.holderIdentity ?? ''), ageColumn],
});

const names = object(
  {
    plural: string(),
    singular: string(),
    kind: string(),
    listKind: string(),
    shortNames: listOf(string()),
    categories: listOf(string()),
  },
  ['plural', 'kind'],
);

function validateDefinition(object: KubeObject): StatusCause[] {
  const { name } = object.metadata;
  const { spec } = object as Partial<CustomResourceDefinition>;
  return !spec?.names || name === `${spec.names.plural}.${spec.group}`
    ? []
    : [fieldInvalid('metadata.name', name, 'must be spec.names.plural+"."+spec.group')];
}

const customResourceDefinitions = builtIn({
  group: 'apiextensions.k8s.io',
  kind: 'CustomResourceDefinition',
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  namespaced: false,
  statusSubresource: true,
  schema: object(
    {
      spec: object(
        {
          group: string(),
          scope: oneOf(['Cluster', 'Namespaced']),
          names,
          versions: listBy(['name'], anything()),
          conversion: anything(),
          preserveUnknownFields: { type: 'boolean' },
        },
        ['group', 'scope', 'names', 'versions'],
      ),
      status: object({
        conditions: listBy(['type'], anything()),
        acceptedNames: names,
        storedVersions: listOf(string()),
        observedGeneration: integer(),
      }),
    },
    ['spec'],
    'The definition of a custom kind.',
  ),
  strategy: { validate: validateDefinition },
  columns: [createdAt],
});

export const clusterResources: ResourceDefinition[] = [...rbac, leases, customResourceDefinitions];
