import { useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { beginTask } from './begun-tasks.js';
import { TASKS_KEY } from './use-tasks.js';

/** Notes that a task was begun here, and looks for it at once. */
export function useBeginTask(): (id: string) => void {
  const queries = useQueryClient();
  return useCallback(
    (id) => {
      beginTask(id);
      void queries.invalidateQueries({ queryKey: TASKS_KEY });
    },
    [queries],
  );
}
