import type { KubeObject } from '../kube-object.js';

const API_VERSION = 'rbac.authorization.k8s.io/v1';

type RoleObject = KubeObject & Record<string, unknown>;

const clusterRole = (name: string, rules: object[]): RoleObject => ({
  apiVersion: API_VERSION,
  kind: 'ClusterRole',
  metadata: { name },
  rules,
});

export function clusterRoleBinding(name: string, role: string, subjects: object[]): RoleObject {
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role };
  return { apiVersion: API_VERSION, kind: 'ClusterRoleBinding', metadata: { name }, roleRef, subjects };
}

export function roleBinding(
  namespace: string,
  name: string,
  roleRef: { kind: string; name: string },
  subjects: object[],
): RoleObject {
  return {
    apiVersion: API_VERSION,
    kind: 'RoleBinding',
    metadata: { namespace, name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', ...roleRef },
    subjects,
  };
}

const group = (name: string): object => ({ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name });

/** The default roles and bindings of every cluster: administration, discovery and self-review. */
export const defaultRoles: RoleObject[] = [
  clusterRole('cluster-admin', [
    { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
    { nonResourceURLs: ['*'], verbs: ['*'] },
  ]),
  clusterRole('system:discovery', [
    {
      nonResourceURLs: [
        '/api',
        '/api/*',
        '/apis',
        '/apis/*',
        '/healthz',
        '/livez',
        '/openapi',
        '/openapi/*',
        '/readyz',
        '/version',
        '/version/',
      ],
      verbs: ['get'],
    },
  ]),
  clusterRole('system:public-info-viewer', [
    { nonResourceURLs: ['/healthz', '/livez', '/readyz', '/version', '/version/'], verbs: ['get'] },
  ]),
  clusterRole('system:basic-user', [
    {
      apiGroups: ['authorization.k8s.io'],
      resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
      verbs: ['create'],
    },
    { apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'], verbs: ['create'] },
  ]),
  clusterRoleBinding('cluster-admin', 'cluster-admin', [group('system:masters')]),
  clusterRoleBinding('system:discovery', 'system:discovery', [group('system:authenticated')]),
  clusterRoleBinding('system:basic-user', 'system:basic-user', [group('system:authenticated')]),
  clusterRoleBinding('system:public-info-viewer', 'system:public-info-viewer', [
    group('system:authenticated'),
    group('system:unauthenticated'),
  ]),
];
