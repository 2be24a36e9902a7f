import type { ContainerView, VmView } from '@headgate/api-contracts';

export type InstanceKind = 'vm' | 'ct';
export type InstanceView = VmView | ContainerView;

/** Identifies an instance in the paths of the API. */
export interface InstanceAddress {
  readonly kind: InstanceKind;
  readonly context: string;
  readonly namespace: string;
  readonly name: string;
}

export const kindOf = ({ ref }: { readonly ref: string }): InstanceKind => (ref.startsWith('ct/') ? 'ct' : 'vm');

export const isVm = (instance: InstanceView): instance is VmView => kindOf(instance) === 'vm';

export const statusOf = (instance: InstanceView): string => (isVm(instance) ? instance.status : instance.phase);

export const addressOf = (instance: InstanceView): InstanceAddress => ({
  kind: kindOf(instance),
  context: instance.context,
  namespace: instance.namespace,
  name: instance.name,
});

const encoded = ({ namespace, name }: InstanceAddress) =>
  `${encodeURIComponent(namespace)}/${encodeURIComponent(name)}` as `${string}/${string}`;

export const vmPath = (address: InstanceAddress) => `/api/vms/${encoded(address)}` as const;
export const ctPath = (address: InstanceAddress) => `/api/cts/${encoded(address)}` as const;
export const vmExtension = (address: InstanceAddress) => `/api/ext/vms/${encoded(address)}` as const;
export const ctExtension = (address: InstanceAddress) => `/api/ext/cts/${encoded(address)}` as const;
export const consolePath = (console: 'tty' | 'vnc', address: InstanceAddress) =>
  `/api/${console}/${encoded(address)}` as const;

/** For messages: `web-1 (vm/lab/default/web-1)`. */
export const formatRef = ({ kind, context, namespace, name }: InstanceAddress): string =>
  [kind, ...[context, namespace, name].map(encodeURIComponent)].join('/');
