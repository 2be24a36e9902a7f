import { skipToken, useQuery, type QueryClient, type QueryKey } from '@tanstack/react-query';

/** Queries whose answers the stream of the page keeps up to date. */
export const STREAMED_KEYS = {
  activity: ['activity', '24h'],
  capabilities: ['capabilities'],
  folders: ['folders'],
  health: ['health'],
  tasks: ['tasks'],
} as const;

export const USAGE_KEY = ['usage'] as const;

/** The usage of the measured instances of a list. */
export const usageKey = (collection: 'vms' | 'cts') => [...USAGE_KEY, collection] as const;

/** The ranges of the activity that the stream does not send, but which differ with each action, too. */
export const ACTIVITY_KEYS = ['1h', '7d', '30d'].map((range) => ['activity', range] as const);

/** Answers that the stream does not send, but which differ with the contexts. */
export const CONTEXT_KEYS = {
  images: ['imported-images'],
  nodes: ['nodes'],
  nodeDetails: ['node-details'],
  storage: ['storage'],
  networks: ['networks'],
} as const;

const LIVE_KEY = ['stream-is-live'] as const;

/** How a query stays up to date: by the stream of the page, or with requests while there is none. */
export interface Freshness {
  readonly refetchInterval: number | false;
  readonly staleTime: number;
}

const STREAMED: Freshness = { refetchInterval: false, staleTime: Infinity };

/** Whether the stream of the page delivers. */
export const useIsStreamLive = (): boolean =>
  useQuery({ queryKey: LIVE_KEY, queryFn: skipToken, gcTime: Infinity }).data === true;

/** @param pollMs how often the query is sent while there is no stream */
export const useFreshness = (pollMs: number): Freshness => {
  const polled = { refetchInterval: pollMs, staleTime: Math.min(pollMs, 5_000) };
  return useIsStreamLive() ? STREAMED : polled;
};

/** The cached answers that the stream of the page replaces. */
export class StreamQueries {
  constructor(private readonly queries: QueryClient) {}

  setLive(isLive: boolean): void {
    if (this.get(LIVE_KEY) !== isLive) this.queries.setQueryData(LIVE_KEY, isLive);
  }

  get<T>(key: QueryKey): T | undefined {
    return this.queries.getQueryData<T>(key);
  }

  /** Replaces an answer. A request that is under way may have been answered before, so its answer is dropped. */
  set<T>(key: QueryKey, value: T): void {
    void this.queries.cancelQueries({ queryKey: key, exact: true });
    this.queries.setQueryData(key, value);
  }

  /** Sends the request of a query again if a page shows it, or when a page shows it next. */
  invalidate(key: QueryKey): void {
    void this.queries.invalidateQueries({ queryKey: key });
  }
}
