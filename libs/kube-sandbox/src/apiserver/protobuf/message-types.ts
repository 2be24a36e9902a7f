import type { Field, FieldType, MessageType } from './message-reader.js';

/** Field numbers of the messages that kubectl and client-go send in protobuf. Source: the published API definitions. */

const field = (name: string, type: FieldType = 'string'): Field => ({ name, type });
const list = (name: string, type: FieldType = 'string'): Field => ({ name, type, repeated: true });
const message = (name: string, type: MessageType): Field => field(name, { message: type });
const messages = (name: string, type: MessageType): Field => list(name, { message: type });
const strings = (name: string): Field => field(name, { mapTo: 'string' });

const objectMeta: MessageType = {
  1: field('name'),
  2: field('generateName'),
  3: field('namespace'),
  5: field('uid'),
  6: field('resourceVersion'),
  8: field('creationTimestamp', 'time'),
  11: strings('labels'),
  12: strings('annotations'),
  13: messages('ownerReferences', {
    1: field('kind'),
    3: field('name'),
    4: field('uid'),
    5: field('apiVersion'),
    6: field('controller', 'bool'),
    7: field('blockOwnerDeletion', 'bool'),
  }),
  14: list('finalizers'),
};

const metadata = message('metadata', objectMeta);

const labelSelector: MessageType = {
  1: strings('matchLabels'),
  2: messages('matchExpressions', { 1: field('key'), 2: field('operator'), 3: list('values') }),
};

const deleteOptions: MessageType = {
  1: field('gracePeriodSeconds', 'int'),
  2: message('preconditions', { 1: field('uid'), 2: field('resourceVersion') }),
  3: field('orphanDependents', 'bool'),
  4: field('propagationPolicy'),
  5: list('dryRun'),
};

const rules = messages('rules', {
  1: list('verbs'),
  2: list('apiGroups'),
  3: list('resources'),
  4: list('resourceNames'),
  5: list('nonResourceURLs'),
});

const binding: MessageType = {
  1: metadata,
  2: messages('subjects', { 1: field('kind'), 2: field('apiGroup'), 3: field('name'), 4: field('namespace') }),
  3: message('roleRef', { 1: field('apiGroup'), 2: field('kind'), 3: field('name') }),
};

const container: MessageType = {
  1: field('name'),
  2: field('image'),
  3: list('command'),
  4: list('args'),
  5: field('workingDir'),
  6: messages('ports', {
    1: field('name'),
    2: field('hostPort', 'int'),
    3: field('containerPort', 'int'),
    4: field('protocol'),
  }),
  7: messages('env', { 1: field('name'), 2: field('value') }),
  14: field('imagePullPolicy'),
};

const deployment: MessageType = {
  1: metadata,
  2: message('spec', {
    1: field('replicas', 'int'),
    2: message('selector', labelSelector),
    3: message('template', {
      1: metadata,
      2: message('spec', {
        2: messages('containers', container),
        3: field('restartPolicy'),
        8: field('serviceAccountName'),
      }),
    }),
    4: message('strategy', { 1: field('type') }),
  }),
};

const accessAttributes: MessageType = {
  1: message('resourceAttributes', {
    1: field('namespace'),
    2: field('verb'),
    3: field('group'),
    4: field('version'),
    5: field('resource'),
    6: field('subresource'),
    7: field('name'),
  }),
  2: message('nonResourceAttributes', { 1: field('path'), 2: field('verb') }),
  3: field('user'),
  4: list('groups'),
};

const objectReference: MessageType = {
  1: field('kind'),
  2: field('namespace'),
  3: field('name'),
  4: field('uid'),
  5: field('apiVersion'),
  6: field('resourceVersion'),
  7: field('fieldPath'),
};

/** By `apiVersion/kind`. */
export const MESSAGE_TYPES: Record<string, MessageType> = {
  'v1/Namespace': { 1: metadata, 2: message('spec', { 1: list('finalizers') }) },
  'v1/ConfigMap': {
    1: metadata,
    2: strings('data'),
    3: field('binaryData', { mapTo: 'bytes' }),
    4: field('immutable', 'bool'),
  },
  'v1/Secret': {
    1: metadata,
    2: field('data', { mapTo: 'bytes' }),
    3: field('type'),
    4: strings('stringData'),
    5: field('immutable', 'bool'),
  },
  'v1/ServiceAccount': {
    1: metadata,
    3: messages('imagePullSecrets', { 1: field('name') }),
    4: field('automountServiceAccountToken', 'bool'),
  },
  'v1/Event': {
    1: metadata,
    2: message('involvedObject', objectReference),
    3: field('reason'),
    4: field('message'),
    5: message('source', { 1: field('component'), 2: field('host') }),
    6: field('firstTimestamp', 'time'),
    7: field('lastTimestamp', 'time'),
    8: field('count', 'int'),
    9: field('type'),
    14: field('reportingComponent'),
    15: field('reportingInstance'),
  },
  'v1/DeleteOptions': deleteOptions,
  'meta.k8s.io/v1/DeleteOptions': deleteOptions,
  'apps/v1/Deployment': deployment,
  'policy/v1/Eviction': { 1: metadata, 2: message('deleteOptions', deleteOptions) },
  'autoscaling/v1/Scale': { 1: metadata, 2: message('spec', { 1: field('replicas', 'int') }) },
  'rbac.authorization.k8s.io/v1/Role': { 1: metadata, 2: rules },
  'rbac.authorization.k8s.io/v1/ClusterRole': {
    1: metadata,
    2: rules,
    3: message('aggregationRule', { 1: messages('clusterRoleSelectors', labelSelector) }),
  },
  'rbac.authorization.k8s.io/v1/RoleBinding': binding,
  'rbac.authorization.k8s.io/v1/ClusterRoleBinding': binding,
  'authorization.k8s.io/v1/SelfSubjectAccessReview': { 1: metadata, 2: message('spec', accessAttributes) },
  'authorization.k8s.io/v1/SubjectAccessReview': { 1: metadata, 2: message('spec', accessAttributes) },
  'authorization.k8s.io/v1/SelfSubjectRulesReview': { 1: metadata, 2: message('spec', { 1: field('namespace') }) },
  'authentication.k8s.io/v1/SelfSubjectReview': { 1: metadata },
  'authentication.k8s.io/v1/TokenRequest': {
    1: metadata,
    2: message('spec', { 1: list('audiences'), 4: field('expirationSeconds', 'int') }),
  },
};
