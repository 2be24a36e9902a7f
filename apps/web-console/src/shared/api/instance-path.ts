/** Identifies an instance. The context travels in the query, because two contexts may have the same names. */
export interface InstanceAddress {
  readonly context: string;
  readonly namespace: string;
  readonly name: string;
}

export type InstanceCollection = 'vms' | 'cts';

export const instancePath = (collection: InstanceCollection, { namespace, name }: InstanceAddress): string =>
  `/api/${collection}/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;

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
