import { instancePath, type InstanceAddress, type InstanceCollection } from '../api/instance-path.js';
import { deleteJson, postJson, withQuery, type QueryValues } from '../api/request.js';
import type { PathOf } from '@headgate/api-routes';

/** A change as data, so that it can be rehearsed, sent and shown. */
export interface ApiRequest {
  readonly method: 'POST' | 'DELETE';
  readonly path: PathOf<'post'> | PathOf<'delete'>;
  readonly query?: QueryValues;
  readonly body?: object;
}

/** @returns the plan with `dryRun`, and else the response of the route */
export function sendRequest<T>(
  { method, path, query = {}, body }: ApiRequest,
  { dryRun, signal }: { readonly dryRun?: true; readonly signal?: AbortSignal } = {},
): Promise<T> {
  const options = {
    query: { ...query, ...(dryRun && { dryRun }) },
    ...(body && { body }),
    ...(signal && { signal }),
  } as object;
  const sent =
    method === 'POST' ? postJson(path as PathOf<'post'>, options) : deleteJson(path as PathOf<'delete'>, options);
  return sent as Promise<T>;
}

/**
 * The request as a command for a POSIX shell.
 * @param origin of the service, such as `http://localhost:8000`
 * @param isInLines whether it has several lines, to be read instead of only copied
 */
export function curlOf({ method, path, query, body }: ApiRequest, origin: string, isInLines = false): string {
  const data = JSON.stringify(body, null, isInLines ? 2 : undefined);
  const parts = [
    ['curl', '-X', method],
    ...(body
      ? [
          ['-H', 'content-type: application/json'],
          ['--data', data],
        ]
      : []),
    [`${origin}${withQuery(path, query)}`],
  ];
  return parts.map((words) => words.map(quoted).join(' ')).join(isInLines ? ' \\\n  ' : ' ');
}

/** Characters that no shell changes. */
const PLAIN = /^[A-Za-z0-9_./:@%+,=-]+$/;

/** Between single quotes everything is literal, besides a single quote. */
const quoted = (text: string): string => (PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** A request to `/api/vms/{ns}/{name}` or `/api/cts/{ns}/{name}`, or to the path of one of its actions. */
export const instanceRequest = (
  collection: InstanceCollection,
  address: InstanceAddress,
  action: string | undefined,
  more: { readonly query?: QueryValues; readonly body?: object } = {},
): ApiRequest => ({
  method: action === undefined ? 'DELETE' : 'POST',
  // The action is a parameter of the route.
  path: (action === undefined
    ? instancePath(collection, address)
    : `${instancePath(collection, address)}/${action}`) as ApiRequest['path'],
  query: { context: address.context, ...more.query },
  ...(more.body && { body: more.body }),
});
