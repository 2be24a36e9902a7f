import { useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { STREAMED_KEYS } from '../queries/stream-queries.js';

/** The tasks that this page started. A notice reports the result of each, on whichever page the user is by then. */
const tracked = new Set<string>();

/** Removes a task and returns true, if this page tracks it. */
export const takeTrackedTask = (id: string): boolean => tracked.delete(id);

/** Registers a task that this page started, and refetches the tasks immediately. */
export function useTrackTask(): (id: string) => void {
  const queries = useQueryClient();
  return useCallback(
    (id) => {
      tracked.add(id);
      void queries.invalidateQueries({ queryKey: STREAMED_KEYS.tasks });
    },
    [queries],
  );
}
