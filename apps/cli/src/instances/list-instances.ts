import type { ContainerView, VmView } from '@headgate/api-contracts';
import type { ApiClient } from '../client/api-client.js';
import type { InstanceKind, InstanceView } from './instance.js';

export interface ListOptions {
  /** In the query language of the lists. */
  readonly q?: string;
  readonly kind?: InstanceKind;
  readonly folder?: string;
  readonly sort?: string;
  readonly limit?: number;
}

export interface InstanceList {
  readonly instances: InstanceView[];
  /** Whether a context can not be reached, so its last known entries are in the list. */
  readonly isPartial: boolean;
}

/** The VMs and containers that match, in the order of the service: first the VMs. */
export async function listInstances(api: ApiClient, { kind, limit, ...query }: ListOptions): Promise<InstanceList> {
  const options = { query: { ...defined(query), ...(limit === undefined ? {} : { limit }) } };
  const answers = await Promise.all([
    ...(kind === 'ct' ? [] : [api.getAnswer('/api/vms', options as object)]),
    ...(kind === 'vm' ? [] : [api.getAnswer('/api/cts', options as object)]),
  ]);
  const instances = answers.flatMap(({ body }): (VmView | ContainerView)[] => body);
  return {
    instances: limit === undefined ? instances : instances.slice(0, limit),
    isPartial: answers.some(({ headers }) => headers['svc-partial'] === 'true'),
  };
}

const defined = (query: Omit<ListOptions, 'kind' | 'limit'>) =>
  Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
