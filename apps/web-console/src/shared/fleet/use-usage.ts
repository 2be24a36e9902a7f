import { useQuery } from '@tanstack/react-query';
import type { StreamUsageView, UsageView } from '@headgate/api-contracts';
import type { InstanceCollection } from '../api/instance-path.js';
import { getJson } from '../api/request.js';
import { useFreshness, usageKey } from '../queries/stream-queries.js';
import type { FleetState } from './fleet-store.js';
import type { Instance } from '../instances/instance.js';

/** Usages by the ref of the instance. */
export type Usages = ReadonlyMap<string, UsageView>;

const NO_USAGES: Usages = new Map();
/** As often as the service samples. */
export const SAMPLE_INTERVAL_MS = 15_000;

const byRef = (entries: readonly StreamUsageView[]): Usages => new Map(entries.map(({ ref, usage }) => [ref, usage]));

/**
 * The current usage of all measured instances of a kind. It waits for the list, which must not load more slowly because
 * of it.
 */
export const useUsages = (collection: InstanceCollection, { phase }: Pick<FleetState<Instance>, 'phase'>): Usages =>
  useQuery({
    queryKey: usageKey(collection),
    queryFn: ({ signal }) =>
      getJson(`/api/${collection}`, { query: { usage: 'only' }, signal }) as Promise<StreamUsageView[]>,
    select: byRef,
    ...useFreshness(SAMPLE_INTERVAL_MS),
    // The stream sends it after the lists.
    enabled: phase === 'polling' || phase === 'lost',
  }).data ?? NO_USAGES;
