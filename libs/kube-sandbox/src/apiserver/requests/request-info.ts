import type { IncomingMessage } from 'node:http';

/** The attributes of a request that follow from its method and path. */
export interface RequestInfo {
  method: string;
  path: string;
  query: URLSearchParams;
  /**
   * get, list, watch, create, update, patch, delete, deletecollection; for non-resource paths, the method in lower
   * case.
   */
  verb: string;
  isResource: boolean;
  group: string;
  version: string;
  namespace?: string;
  /** The plural; empty for discovery of a group and version. */
  resource: string;
  name?: string;
  /** The path segments after the name. */
  subresource: string[];
}

const NAMESPACE_SUBRESOURCES = new Set(['status', 'finalize']);

const VERBS: Record<string, { collection: string; object: string }> = {
  GET: { collection: 'list', object: 'get' },
  HEAD: { collection: 'list', object: 'get' },
  POST: { collection: 'create', object: 'create' },
  PUT: { collection: 'update', object: 'update' },
  PATCH: { collection: 'patch', object: 'patch' },
  DELETE: { collection: 'deletecollection', object: 'delete' },
};

export function parseRequest({ method = 'GET', url = '/' }: Pick<IncomingMessage, 'method' | 'url'>): RequestInfo {
  const { pathname, searchParams: query } = new URL(url, 'http://sandbox');
  const path = pathname.length > 1 ? pathname.replace(/\/+$/, '') : pathname;
  const info: RequestInfo = {
    method,
    path,
    query,
    verb: method.toLowerCase(),
    isResource: false,
    group: '',
    version: '',
    resource: '',
    subresource: [],
  };
  const segments = path.split('/').slice(1).map(decodeSegment);
  const [root, ...rest] = segments;
  if (root === 'api' && rest.length > 1) return resourceRequest(info, '', rest);
  if (root === 'apis' && rest.length > 2) return resourceRequest(info, rest[0]!, rest.slice(1));
  return info;
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function resourceRequest(info: RequestInfo, group: string, [version = '', ...path]: string[]): RequestInfo {
  const isNamespaced = path[0] === 'namespaces' && path.length > 2 && !NAMESPACE_SUBRESOURCES.has(path[2]!);
  const namespace = isNamespaced ? path[1] : undefined;
  const [resource = '', name, ...subresource] = isNamespaced ? path.slice(2) : path;
  const verbs = VERBS[info.method];
  const plain = name === undefined ? verbs?.collection : verbs?.object;
  const isWatch = plain === 'list' && isTrue(info.query.get('watch'));
  return {
    ...info,
    isResource: true,
    group,
    version,
    ...(namespace === undefined ? {} : { namespace }),
    resource,
    ...(name === undefined ? {} : { name }),
    subresource,
    verb: isWatch ? 'watch' : (plain ?? info.method.toLowerCase()),
  };
}

/** A flag in a query: `?watch`, `?watch=1`, `?watch=true`. */
export function isTrue(value: string | null): boolean {
  return value !== null && value !== 'false' && value !== '0';
}
