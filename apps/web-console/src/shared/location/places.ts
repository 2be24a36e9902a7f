import type { InstanceAddress } from '../api/instance-path.js';

export type InstanceTab = 'overview' | 'console' | 'serial' | 'manifest';

const encoded = ({ context, namespace, name }: InstanceAddress): string =>
  [context, namespace, name].map(encodeURIComponent).join('/');

/** Addresses inside the console. */
export const places = {
  fleet: '/vms',
  createVm: '/vms?create=1',
  vm: (address: InstanceAddress, tab: InstanceTab = 'overview') => `/vms/${encoded(address)}/${tab}`,
  containers: '/containers',
  container: (address: InstanceAddress) => `/containers/${encoded(address)}`,
  nodes: '/nodes',
  doctor: '/doctor',
} as const;

/** The instances on one node. */
export const nodePlace = (context: string, node: string): string =>
  `${places.fleet}?${new URLSearchParams({ context, node })}`;

/** Reads the three parts that `places.vm` wrote. */
export const addressOf = (params: Readonly<Record<string, string | undefined>>): InstanceAddress => ({
  context: decodeURIComponent(params['context'] ?? ''),
  namespace: decodeURIComponent(params['namespace'] ?? ''),
  name: decodeURIComponent(params['name'] ?? ''),
});

/** The page of the instance that a ref (`vm/<context>/<namespace>/<name>`) names. */
export function placeOfRef(ref: string): string {
  const [kind, ...parts] = ref.split('/').map(decodeURIComponent);
  const [context = '', namespace = '', name = ''] = parts;
  return kind === 'ct' ? places.container({ context, namespace, name }) : places.vm({ context, namespace, name });
}
