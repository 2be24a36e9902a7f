import type { UserInfo } from '../admission.js';
import { resourceName } from '../kube-object.js';
import type { RequestInfo } from './request-info.js';

/** Selects requests; all given fields must match. */
export interface RequestMatcher {
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection` */
  verb?: string | string[];
  /** `pods`, `deployments.apps` */
  resource?: string;
  /** The first path segments after the name, such as `start` or `vnc/screenshot`. Default: any or none. */
  subresource?: string;
  namespace?: string;
  name?: string;
  /** The user name, such as `system:serviceaccount:lab:builder`. */
  user?: string;
  /** The path of a non-resource request. */
  path?: string | RegExp;
}

export function matchesRequest(matcher: RequestMatcher, info: RequestInfo, user?: UserInfo): boolean {
  const { verb, resource, subresource, namespace, name, path } = matcher;
  const fits = (wanted: string | undefined, actual: string | undefined): boolean =>
    wanted === undefined || wanted === actual;
  return (
    (verb === undefined || [verb].flat().includes(info.verb)) &&
    fits(resource, info.resource ? resourceName(info.group, info.resource) : '') &&
    fits(subresource, info.subresource.join('/')) &&
    fits(namespace, info.namespace) &&
    fits(name, info.name) &&
    fits(matcher.user, user?.username) &&
    (path === undefined || (typeof path === 'string' ? path === info.path : path.test(info.path)))
  );
}
