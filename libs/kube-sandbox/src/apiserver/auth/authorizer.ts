import type { UserInfo } from '../admission.js';
import { forbidden } from '../api-error.js';
import type { RequestInfo } from '../requests/request-info.js';

/** One action on a resource or on a non-resource path. */
export interface AccessAttributes {
  user: UserInfo;
  verb: string;
  group?: string;
  resource?: string;
  subresource?: string;
  namespace?: string;
  name?: string;
  /** The path of a non-resource request. */
  path?: string;
}

export interface ResourceRule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
  resourceNames?: string[];
}

export interface NonResourceRule {
  nonResourceURLs: string[];
  verbs: string[];
}

export interface Authorizer {
  allows(attributes: AccessAttributes): boolean;
  /** Everything a user may do in a namespace. */
  rulesFor(user: UserInfo, namespace: string): { resource: ResourceRule[]; nonResource: NonResourceRule[] };
}

/** Allows every request. */
export const allowAll: Authorizer = {
  allows: () => true,
  rulesFor: () => ({
    resource: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
    nonResource: [{ nonResourceURLs: ['*'], verbs: ['*'] }],
  }),
};

/** The attributes of a request for authorization. Only the first segment of a subresource counts. */
export function attributesOf(info: RequestInfo, user: UserInfo): AccessAttributes {
  if (!info.isResource || !info.resource) return { user, verb: info.method.toLowerCase(), path: info.path };
  const { group, resource, namespace, verb } = info;
  const isNamespaceItself = group === '' && resource === 'namespaces' && info.name !== undefined;
  const name = info.name ?? nameSelected(info);
  return {
    user,
    verb,
    group,
    resource,
    ...(info.subresource[0] && { subresource: info.subresource[0] }),
    ...(isNamespaceItself ? { namespace: info.name } : namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
  };
}

/** A list or watch of one name is authorized with that name, so that rules with resourceNames can allow it. */
function nameSelected({ verb, query }: RequestInfo): string | undefined {
  if (!['list', 'watch', 'deletecollection'].includes(verb)) return undefined;
  return /^metadata\.name==?([^,]+)$/.exec(query.get('fieldSelector') ?? '')?.[1];
}

/** The 403 error with the message of a real server. */
export function refusalOf({
  user,
  verb,
  group = '',
  resource = '',
  subresource,
  namespace,
  name,
  path,
}: AccessAttributes) {
  if (path !== undefined) {
    const error = forbidden({ group: '', resource: '' }, `User "${user.username}" cannot ${verb} path "${path}"`);
    error.status.message = error.message = `forbidden: User "${user.username}" cannot ${verb} path "${path}"`;
    return error;
  }
  const target = subresource ? `${resource}/${subresource}` : resource;
  const scope = namespace ? `in the namespace "${namespace}"` : 'at the cluster scope';
  return forbidden(
    { group, resource, name },
    `User "${user.username}" cannot ${verb} resource "${target}" in API group "${group}" ${scope}`,
  );
}
