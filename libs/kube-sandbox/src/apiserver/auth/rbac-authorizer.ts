import type { UserInfo } from '../admission.js';
import type { KubeObject } from '../kube-object.js';
import { labelSelectorOf, type LabelSelectorObject } from '../label-selector.js';
import type { ObjectStore } from '../object-store.js';
import type { AccessAttributes, Authorizer, NonResourceRule, ResourceRule } from './authorizer.js';

type PolicyRule = Partial<ResourceRule> & Partial<NonResourceRule> & { verbs: string[] };

interface Role extends KubeObject {
  rules?: PolicyRule[] | null;
  aggregationRule?: { clusterRoleSelectors?: LabelSelectorObject[] };
}

interface Binding extends KubeObject {
  roleRef: { kind: string; name: string };
  subjects?: { kind: string; name: string; namespace?: string }[];
}

const GROUP = 'rbac.authorization.k8s.io';
const CLUSTER_ROLES = `clusterroles.${GROUP}`;

/** Authorizes by the current Roles, ClusterRoles and bindings in the store. */
export class RbacAuthorizer implements Authorizer {
  constructor(private readonly store: ObjectStore) {}

  allows(attributes: AccessAttributes): boolean {
    if (attributes.user.groups.includes('system:masters')) return true;
    for (const rule of this.rules(attributes.user, attributes.namespace)) if (permits(rule, attributes)) return true;
    return false;
  }

  rulesFor(user: UserInfo, namespace: string): { resource: ResourceRule[]; nonResource: NonResourceRule[] } {
    if (user.groups.includes('system:masters')) {
      return {
        resource: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
        nonResource: [{ nonResourceURLs: ['*'], verbs: ['*'] }],
      };
    }
    const rules = [...this.rules(user, namespace)];
    return {
      resource: rules.filter(({ resources }) => resources).map((rule) => rule as ResourceRule),
      nonResource: rules.filter(({ nonResourceURLs }) => nonResourceURLs).map((rule) => rule as NonResourceRule),
    };
  }

  private *rules(user: UserInfo, namespace: string | undefined): Iterable<PolicyRule> {
    for (const binding of this.store.list<Binding>(`clusterrolebindings.${GROUP}`)) {
      if (binds(binding, user)) yield* this.clusterRoleRules(binding.roleRef.name);
    }
    if (!namespace) return;
    for (const binding of this.store.list<Binding>(`rolebindings.${GROUP}`, { namespace })) {
      if (!binds(binding, user)) continue;
      const { kind, name } = binding.roleRef;
      if (kind === 'ClusterRole') yield* this.clusterRoleRules(name);
      else yield* this.store.get<Role>(`roles.${GROUP}`, { namespace, name })?.rules ?? [];
    }
  }

  private clusterRoleRules(name: string): PolicyRule[] {
    const role = this.store.get<Role>(CLUSTER_ROLES, { name });
    const selectors = role?.aggregationRule?.clusterRoleSelectors ?? [];
    const aggregated = selectors.flatMap((selector) =>
      this.store.list<Role>(CLUSTER_ROLES, {
        labels: labelSelectorOf(selector),
        where: ({ metadata }) => metadata.name !== name,
      }),
    );
    return [...(role?.rules ?? []), ...aggregated.flatMap(({ rules }) => rules ?? [])];
  }
}

function binds({ subjects = [], metadata }: Binding, user: UserInfo): boolean {
  return subjects.some(({ kind, name, namespace = metadata.namespace }) => {
    if (kind === 'Group') return user.groups.includes(name);
    if (kind === 'ServiceAccount') return user.username === `system:serviceaccount:${namespace}:${name}`;
    return user.username === name;
  });
}

function permits(rule: PolicyRule, { verb, group = '', resource, subresource, name, path }: AccessAttributes): boolean {
  if (!includes(rule.verbs, verb)) return false;
  if (path !== undefined) return (rule.nonResourceURLs ?? []).some((pattern) => matchesPath(pattern, path));
  const target = subresource ? `${resource}/${subresource}` : (resource ?? '');
  const resources = rule.resources ?? [];
  const named = rule.resourceNames ?? [];
  return (
    includes(rule.apiGroups ?? [], group) &&
    (includes(resources, target) || (subresource !== undefined && resources.includes(`*/${subresource}`))) &&
    (named.length === 0 || (name !== undefined && named.includes(name)))
  );
}

const includes = (allowed: string[], value: string): boolean => allowed.includes('*') || allowed.includes(value);

function matchesPath(pattern: string, path: string): boolean {
  return pattern === '*' || pattern === path || (pattern.endsWith('*') && path.startsWith(pattern.slice(0, -1)));
}
