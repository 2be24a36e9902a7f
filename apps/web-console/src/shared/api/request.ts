import { ApiError } from './api-error.js';

export type QueryValues = Readonly<Record<string, string | boolean | undefined>>;

export interface RequestOptions {
  readonly query?: QueryValues;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, instead of a `body`. */
  readonly bytes?: Blob;
  readonly signal?: AbortSignal;
}

/** Appends the defined values to a path as its query. */
export function withQuery(path: string, values: QueryValues = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined) query.set(name, String(value));
  return query.size === 0 ? path : `${path}?${query}`;
}

/** @throws ApiError with the service's own message, or `SERVICE_UNREACHABLE` */
export async function send(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
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
  if (!response.ok) throw await ApiError.from(response);
  return response;
}

function contentType({ body, bytes }: RequestOptions): Record<string, string> {
  if (bytes) return { 'content-type': 'application/octet-stream' };
  return body === undefined ? {} : { 'content-type': 'application/json' };
}

const json =
  (method: string) =>
  async <T>(path: string, options?: RequestOptions): Promise<T> =>
    (await send(method, path, options)).json() as Promise<T>;

export const getJson = json('GET');
export const postJson = json('POST');
export const deleteJson = json('DELETE');
