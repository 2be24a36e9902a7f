import { useQuery } from '@tanstack/react-query';
import type { UsageView } from '@headgate/api-contracts';
import type { InstanceCollection } from '../api/instance-path.js';
import { getJson } from '../api/request.js';

/** Usages by the ref of the instance. */
export type Usages = ReadonlyMap<string, UsageView>;

interface UsageEntry {
  readonly ref: string;
  readonly usage: UsageView;
}

const NO_USAGES: Usages = new Map();
/** As often as the service samples. */
export const SAMPLE_INTERVAL_MS = 15_000;

const byRef = (entries: readonly UsageEntry[]): Usages => new Map(entries.map(({ ref, usage }) => [ref, usage]));

/** The current usage of all measured instances of a kind. */
export const useUsages = (collection: InstanceCollection): Usages =>
  useQuery({
    queryKey: ['usage', collection],
    queryFn: ({ signal }) => getJson<UsageEntry[]>(`/api/${collection}`, { query: { usage: 'only' }, signal }),
    select: byRef,
    refetchInterval: SAMPLE_INTERVAL_MS,
  }).data ?? NO_USAGES;
