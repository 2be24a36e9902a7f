import { ApiError } from './api-error.js';
import { loginRequired } from './login-required.js';
import type { PathOf, ResponseOf, RouteOptions } from '@headgate/api-routes';

export type QueryValues = Readonly<Record<string, string | number | boolean | undefined>>;

interface RequestOptions {
  readonly query?: QueryValues;
  readonly body?: unknown;
  readonly bytes?: Blob;
  readonly signal?: AbortSignal;
}

/** A response whose body has a type. */
type Typed<T> = Omit<Response, 'json'> & { json(): Promise<T> };

/** Appends the defined values to a path as its query. */
export function withQuery(path: string, values: QueryValues = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined) query.set(name, String(value));
  return query.size === 0 ? path : `${path}?${query}`;
}

/** A GET whose headers are needed. @throws ApiError with the service's own message, or `SERVICE_UNREACHABLE` */
export const getResponse = <P extends PathOf<'get'>>(
  path: P,
  options?: RouteOptions<P, 'get'>,
): Promise<Typed<ResponseOf<P, 'get', object>>> => send('GET', path, options as RequestOptions);

async function send(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
  const { query, body, bytes, signal } = options;
  const response = await fetch(withQuery(path, query), {
    method,
    headers: { accept: 'application/json', ...contentType(options) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(bytes ? { body: bytes } : {}),
    ...(signal ? { signal } : {}),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw ApiError.unreachable();
  });
  if (!response.ok) {
    const error = await ApiError.from(response);
    if (error.code === 'LOGIN_REQUIRED') loginRequired.set(true);
    throw error;
  }
  return response;
}

function contentType({ body, bytes }: RequestOptions): Record<string, string> {
  if (bytes) return { 'content-type': 'application/octet-stream' };
  return body === undefined ? {} : { 'content-type': 'application/json' };
}

/** A request to a route of the API document, with the types that it has there. */
const json =
  <M extends 'get' | 'post' | 'patch' | 'delete'>(method: string) =>
  async <P extends PathOf<M>, const O extends RouteOptions<P, M>>(path: P, options?: O): Promise<ResponseOf<P, M, O>> =>
    (await send(method, path, options as RequestOptions)).json();

export const getJson = json<'get'>('GET');
export const postJson = json<'post'>('POST');
export const patchJson = json<'patch'>('PATCH');
export const deleteJson = json<'delete'>('DELETE');
