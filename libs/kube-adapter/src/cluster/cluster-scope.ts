import type { InstanceRef } from '@headgate/domain-contracts';
import type { KubeApi } from '../api/kube-api.js';
import { KubeApiError } from '../api/kube-api-error.js';
import type { KubeObject } from '../api/kube-object.js';
import type { Resource } from '../api/resources.js';

/** The part of a cluster that the service may list. */
export interface ClusterScope {
  readonly api: KubeApi;
  readonly context: string;
  /** The namespaces of instances, for an account that may not list the whole cluster. */
  readonly namespaces?: readonly string[];
}

/** The objects of all namespaces that the service may list. */
export async function listScoped<T extends KubeObject>(
  { api, namespaces }: ClusterScope,
  resource: Resource,
): Promise<T[]> {
  const scopes = namespaces?.map((namespace) => ({ namespace })) ?? [undefined];
  return (await Promise.all(scopes.map((scope) => api.list<T>(resource, scope)))).flat();
}

/** The objects of a kind; undefined where the cluster does not serve it, or the account may not list it. */
export async function listIfAllowed<T extends KubeObject>(api: KubeApi, resource: Resource): Promise<T[] | undefined> {
  try {
    return await api.list<T>(resource);
  } catch (error) {
    if (KubeApiError.has(error, 404) || KubeApiError.has(error, 403)) return undefined;
    throw error;
  }
}

/** The objects of a kind; none where the cluster does not serve it. */
export async function listIfServed<T extends KubeObject>(api: KubeApi, resource: Resource): Promise<T[]> {
  try {
    return await api.list<T>(resource);
  } catch (error) {
    if (KubeApiError.has(error, 404)) return [];
    throw error;
  }
}

/** The objects of a kind that only clusters with an optional component serve; none otherwise. */
export async function listScopedIfServed<T extends KubeObject>(scope: ClusterScope, resource: Resource): Promise<T[]> {
  try {
    return await listScoped<T>(scope, resource);
  } catch (error) {
    if (KubeApiError.has(error, 404)) return [];
    throw error;
  }
}

/** The instance that an object is, or belongs to. */
export const refOf = (
  context: string,
  kind: InstanceRef['kind'],
  { metadata: { namespace = '', name = '' } }: Pick<KubeObject, 'metadata'>,
): InstanceRef => ({ kind, context, namespace, name });
