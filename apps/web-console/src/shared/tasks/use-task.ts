import { useQueries } from '@tanstack/react-query';
import type { TaskView } from '@headgate/api-contracts';
import { getJson } from '../api/request.js';
import type { WatchedTask } from './watched-tasks.js';

const BUSY_MS = 1_000;

export interface TaskProgress extends WatchedTask {
  readonly task?: TaskView;
  /** Why the service can't tell how far it is. */
  readonly problem?: Error;
}

/** How far each task is; a finished one is not asked for again. */
export function useTaskProgress(tasks: readonly WatchedTask[]): TaskProgress[] {
  const answers = useQueries({
    queries: tasks.map(({ id }) => ({
      queryKey: ['task', id],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        getJson<TaskView>(`/api/tasks/${encodeURIComponent(id)}`, { signal }),
      refetchInterval: (query: { state: { data?: TaskView | undefined; error: Error | null } }) =>
        query.state.data?.status === 'running' || query.state.error ? BUSY_MS * (query.state.error ? 10 : 1) : false,
      staleTime: Infinity,
    })),
  });
  return tasks.map((task, index) => {
    const { data, error } = answers[index] ?? {};
    return { ...task, ...(data ? { task: data } : {}), ...(error ? { problem: error } : {}) };
  });
}
