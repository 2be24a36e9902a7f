import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { StatusView, TaskView } from '@headgate/api-contracts';
import { useCallback } from 'react';
import { deleteJson, getJson } from '../api/request.js';
import { STREAMED_KEYS, useFreshness } from '../queries/stream-queries.js';

const { tasks: TASKS_KEY } = STREAMED_KEYS;
const POLL_MS = 2_000;

/** The latest tasks of all users, newest first, or what a page selects of them. */
export const useTasks = <T = readonly TaskView[]>(select?: (tasks: readonly TaskView[]) => T) =>
  useQuery({
    queryKey: TASKS_KEY,
    queryFn: ({ signal }) => getJson('/api/tasks', { signal }),
    ...(select && { select }),
    ...useFreshness(POLL_MS),
  });

export const isRunning = ({ status }: TaskView): boolean => status === 'running';

const FOLLOW_MS = 500;

/** One task with its members, requested again with each of its changes, or until it has ended. */
export const useTask = (id: string | undefined) => {
  const { refetchInterval } = useFreshness(FOLLOW_MS);
  return useQuery({
    queryKey: [...TASKS_KEY, id],
    queryFn: ({ signal }) => getJson(`/api/tasks/${encodeURIComponent(id ?? '')}`, { signal }),
    enabled: id !== undefined,
    refetchInterval: ({ state: { data } }) => (data && !isRunning(data) ? false : refetchInterval),
  });
};

/** Refetches the tasks immediately. */
export function useRefreshTasks(): () => void {
  const queries = useQueryClient();
  return useCallback(() => void queries.invalidateQueries({ queryKey: TASKS_KEY }), [queries]);
}

export const cancelTask = (id: string): Promise<StatusView> => deleteJson(`/api/tasks/${encodeURIComponent(id)}`);

/** The tasks of an instance, by its ref. */
export const useTasksOf = (ref: string): readonly TaskView[] =>
  useTasks().data?.filter((task) => task.ref === ref) ?? [];
