import { useQuery } from '@tanstack/react-query';
import type { ActivityView, HistoryRange } from '@headgate/api-contracts';
import { useEffect, useState } from 'react';
import { getJson } from '../api/request.js';
import { STREAMED_KEYS, useFreshness } from '../queries/stream-queries.js';
import { useWhoami } from '../queries/use-whoami.js';

const POLL_MS = 60_000;

/**
 * The number of actions of a range, kept up to date by the stream of the page. Undefined while they are loading, and
 * for callers who see a part of the fleet only.
 */
export function useActivity(range: HistoryRange): ActivityView | undefined {
  const { data: whoami } = useWhoami();
  const { data, dataUpdatedAt } = useQuery({
    queryKey: range === '24h' ? STREAMED_KEYS.activity : ['activity', range],
    queryFn: ({ signal }) => getJson('/api/ext/journal/activity', { query: { range }, signal }),
    enabled: whoami !== undefined && whoami.roles === undefined,
    ...useFreshness(POLL_MS),
  });
  const elapsedMs = useElapsedSpans(dataUpdatedAt, data?.stepMs);
  return data && { ...data, from: data.from + elapsedMs, to: data.to + elapsedMs };
}

/** How far the range has moved on since the answer, in whole spans, by the clock of the browser. */
function useElapsedSpans(since: number, stepMs = 0): number {
  const [elapsed, setElapsed] = useState({ since, spans: 0 });
  if (elapsed.since !== since) setElapsed({ since, spans: 0 });
  useEffect(() => {
    if (stepMs === 0) return;
    const timer = setInterval(() => setElapsed(({ spans }) => ({ since, spans: spans + 1 })), stepMs);
    return () => clearInterval(timer);
  }, [since, stepMs]);
  return elapsed.since === since ? elapsed.spans * stepMs : 0;
}
