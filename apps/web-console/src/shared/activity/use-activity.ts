import { useQuery } from '@tanstack/react-query';
import type { ActivityView, HistoryRange } from '@headgate/api-contracts';
import { useEffect, useRef, useState } from 'react';
import { getJson } from '../api/request.js';
import { useContainers, useFleet } from '../fleet/fleet-provider.js';
import type { FleetState } from '../fleet/fleet-store.js';
import type { FleetEntry } from '../fleet/sorted-entries.js';
import { useWhoami } from '../queries/use-whoami.js';
import { useTasks } from '../tasks/use-tasks.js';

/** A change is usually followed by others, and recorded a moment after it is seen. */
const SETTLE_MS = 2_000;
const MIN_INTERVAL_MS = 30_000;

/**
 * The number of actions of a range, requested again after changes of instances and tasks. Undefined while they are
 * loading, and for callers who see a part of the fleet only.
 */
export function useActivity(range: HistoryRange): ActivityView | undefined {
  const { data: whoami } = useWhoami();
  const { data, dataUpdatedAt, refetch } = useQuery({
    queryKey: ['activity', range],
    queryFn: ({ signal }) => getJson('/api/ext/journal/activity', { query: { range }, signal }),
    enabled: whoami !== undefined && whoami.roles === undefined,
    staleTime: MIN_INTERVAL_MS,
    refetchOnWindowFocus: true,
  });
  const changes = useChanges();
  const seen = useRef(changes);
  useEffect(() => {
    if (seen.current === changes || dataUpdatedAt === 0) return;
    const delay = Math.max(SETTLE_MS, dataUpdatedAt + MIN_INTERVAL_MS - Date.now());
    const timer = setTimeout(() => {
      seen.current = changes;
      void refetch();
    }, delay);
    return () => clearTimeout(timer);
  }, [changes, dataUpdatedAt, refetch]);
  const elapsedMs = useElapsedSpans(dataUpdatedAt, data?.stepMs);
  return data && { ...data, from: data.from + elapsedMs, to: data.to + elapsedMs };
}

/** Grows with each change of a list, once the list was loaded. */
function useChanges(): number {
  const lists = [useFleet(loadedEntries), useContainers(loadedEntries), useTasks().data];
  const [known, setKnown] = useState({ lists, changes: 0 });
  if (lists.every((list, index) => list === known.lists[index])) return known.changes;
  const isChanged = lists.some((list, index) => list !== known.lists[index] && known.lists[index] !== undefined);
  const changes = known.changes + (isChanged ? 1 : 0);
  setKnown({ lists, changes });
  return changes;
}

const loadedEntries = ({ phase, entries }: FleetState<FleetEntry>): readonly FleetEntry[] | undefined =>
  phase === 'loading' ? undefined : entries;

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
