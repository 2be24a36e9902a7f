import type { UserInfo } from '../admission.js';
import type { KubeObject } from '../kube-object.js';
import type { ResourceDefinition } from '../resource-definition.js';
import { anything, object } from '../schema/schema-builders.js';
import type { AccessAttributes, Authorizer } from './authorizer.js';

interface ReviewSpec {
  user?: string;
  groups?: string[];
  namespace?: string;
  resourceAttributes?: {
    verb?: string;
    group?: string;
    resource?: string;
    subresource?: string;
    namespace?: string;
    name?: string;
  };
  nonResourceAttributes?: { path?: string; verb?: string };
}

type Review = KubeObject & { spec?: ReviewSpec };

/** The resources through which a client reviews its identity and permissions. */
export function accessReviews(authorizer: Authorizer): ResourceDefinition[] {
  const judged = (review: Review, user: UserInfo) => {
    const allowed = authorizer.allows(attributesOf(review.spec ?? {}, user));
    return { ...review, status: { allowed, ...(allowed ? { reason: 'RBAC: allowed' } : {}) } };
  };
  return [
    review('authorization.k8s.io', 'SelfSubjectAccessReview', (body, user) => judged(body, user)),
    review('authorization.k8s.io', 'SubjectAccessReview', (body) =>
      judged(body, { username: body.spec?.user ?? '', groups: body.spec?.groups ?? [] }),
    ),
    review('authorization.k8s.io', 'SelfSubjectRulesReview', (body, user) => {
      const { resource, nonResource } = authorizer.rulesFor(user, body.spec?.namespace ?? '');
      return { ...body, status: { resourceRules: resource, nonResourceRules: nonResource, incomplete: false } };
    }),
    review('authentication.k8s.io', 'SelfSubjectReview', (body, user) => ({ ...body, status: { userInfo: user } })),
  ];
}

function review(group: string, kind: string, answer: (body: Review, user: UserInfo) => KubeObject): ResourceDefinition {
  const singular = kind.toLowerCase();
  return {
    group,
    plural: `${singular}s`,
    singular,
    kind,
    namespaced: false,
    builtIn: true,
    versions: [{ name: 'v1', served: true, schema: object({ spec: anything(), status: anything() }) }],
    handleCreate: (body, user) => answer(body, user),
  };
}

function attributesOf({ resourceAttributes, nonResourceAttributes }: ReviewSpec, user: UserInfo): AccessAttributes {
  if (nonResourceAttributes)
    return { user, verb: nonResourceAttributes.verb ?? 'get', path: nonResourceAttributes.path ?? '/' };
  const { verb = '', group = '', resource = '', subresource, namespace, name } = resourceAttributes ?? {};
  return {
    user,
    verb,
    group,
    resource,
    ...(subresource && { subresource }),
    ...(namespace && { namespace }),
    ...(name && { name }),
  };
}
