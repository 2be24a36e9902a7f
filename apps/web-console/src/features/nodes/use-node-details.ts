import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { getJson } from '../../shared/api/request.js';
import { CONTEXT_KEYS } from '../../shared/queries/stream-queries.js';
import { useSettled } from '../../shared/ui/use-settled.js';

/** The stream does not send the load of nodes. */
const LOAD_REFRESH_MS = 60_000;
/** Guests that start or move together cause one request. */
const SETTLED_MS = 1_000;

/**
 * The nodes with their promises. They are requested again when an instance starts, stops or moves, which the stream
 * reports, and once a minute for their load.
 * @param occupancy changes when the instances of a node do
 */
export function useNodeDetails(occupancy: string) {
  const queries = useQueryClient();
  const settled = useSettled(occupancy, SETTLED_MS, occupancy);
  const query = useQuery({
    queryKey: CONTEXT_KEYS.nodeDetails,
    queryFn: ({ signal }) => getJson('/api/ext/nodes', { signal }),
    refetchInterval: LOAD_REFRESH_MS,
  });
  useEffect(() => {
    // The first answer is on its way otherwise.
    if (queries.getQueryData(CONTEXT_KEYS.nodeDetails) !== undefined)
      void queries.invalidateQueries({ queryKey: CONTEXT_KEYS.nodeDetails });
  }, [queries, settled]);
  return query;
}
