import type { KubeApi } from '../api/kube-api.js';
import type { KubeObject } from '../api/kube-object.js';
import { ACCESS_REVIEWS } from '../api/resources.js';
import { RBAC_RULES, type RbacRule } from '../rbac.js';

interface AccessReview extends KubeObject {
  readonly status?: { readonly allowed?: boolean };
}

/**
 * The required permissions that the account does not have, such as `create pods`.
 * @param isServed whether the cluster serves an API group; permissions for other groups are not checked
 */
export async function missingPermissions(
  api: KubeApi,
  isServed: (group: string) => boolean,
  { rules = RBAC_RULES, namespace }: { readonly rules?: readonly RbacRule[]; readonly namespace?: string } = {},
): Promise<string[]> {
  const required = rules.filter(({ apiGroups: [group = ''] }) => isServed(group)).flatMap(permissionsOf);
  const missing = await Promise.all(
    required.map(async (permission) => ((await isAllowed(api, permission, namespace)) ? [] : [permission])),
  );
  return missing.flat().map(({ verb, resource, group }) => `${verb} ${resource}${group && `.${group}`}`);
}

interface Permission {
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
}

const permissionsOf = ({ apiGroups: [group = ''], resources, verbs }: RbacRule): Permission[] =>
  resources.flatMap((resource) => verbs.map((verb) => ({ group, resource, verb })));

async function isAllowed(
  api: KubeApi,
  { group, resource, verb }: Permission,
  namespace: string | undefined,
): Promise<boolean> {
  const [name, subresource] = resource.split('/');
  const resourceAttributes = { group, resource: name, subresource, verb, namespace };
  const review = await api.create<AccessReview>(ACCESS_REVIEWS, {
    metadata: {},
    spec: { resourceAttributes },
  } as KubeObject);
  return review.status?.allowed === true;
}
