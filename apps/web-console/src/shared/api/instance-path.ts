/** Identifies an instance. The context travels in the query, because two contexts may have the same names. */
export interface InstanceAddress {
  readonly context: string;
  readonly namespace: string;
  readonly name: string;
}

export type InstanceCollection = 'vms' | 'cts';

/** The ref of an instance: `vm/<context>/<namespace>/<name>`. */
export const refOfAddress = (
  { context, namespace, name }: InstanceAddress,
  collection: InstanceCollection = 'vms',
): string => [collection === 'vms' ? 'vm' : 'ct', context, namespace, name].map(encodeURIComponent).join('/');

/** The path of an instance in the API document. */
export const instancePath = <C extends InstanceCollection>(collection: C, { namespace, name }: InstanceAddress) =>
  `/api/${collection}/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}` as const;

/** The path of an instance under which the extensions of the API are. */
export const extensionPath = <C extends InstanceCollection = 'vms'>(
  { namespace, name }: InstanceAddress,
  collection: C = 'vms' as C,
) => `/api/ext/${collection}/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}` as const;

/** The URL of a console's WebSocket, on the service that served this page. */
export function consoleUrl(
  console: 'vnc' | 'tty',
  { context, namespace, name }: InstanceAddress,
  kind?: 'ct',
  page: Pick<Location, 'protocol' | 'host'> = location,
): string {
  const scheme = page.protocol === 'https:' ? 'wss:' : 'ws:';
  const query = new URLSearchParams({ context, ...(kind ? { kind } : {}) });
  return `${scheme}//${page.host}/api/${console}/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}?${query}`;
}
