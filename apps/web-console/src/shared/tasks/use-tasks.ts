import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { StatusView, TaskView } from '@headgate/api-contracts';
import { useCallback } from 'react';
import { deleteJson, getJson } from '../api/request.js';

export const TASKS_KEY = ['tasks'] as const;
const BUSY_REFETCH_MS = 1_000;
const IDLE_REFETCH_MS = 10_000;

/** The latest tasks of all users, newest first. Refetched more often while one of them runs. */
export const useTasks = () =>
  useQuery({
    queryKey: TASKS_KEY,
    queryFn: ({ signal }) => getJson('/api/tasks', { signal }),
    refetchInterval: ({ state: { data } }) => (data?.some(isRunning) ? BUSY_REFETCH_MS : IDLE_REFETCH_MS),
  });

export const isRunning = ({ status }: TaskView): boolean => status === 'running';

const FOLLOW_REFETCH_MS = 500;

/** One task with its members, refetched until it has ended. */
export const useTask = (id: string | undefined) =>
  useQuery({
    queryKey: [...TASKS_KEY, id],
    queryFn: ({ signal }) => getJson(`/api/tasks/${encodeURIComponent(id ?? '')}`, { signal }),
    enabled: id !== undefined,
    refetchInterval: ({ state: { data } }) => (data && !isRunning(data) ? false : FOLLOW_REFETCH_MS),
  });

/** Refetches the tasks immediately. */
export function useRefreshTasks(): () => void {
  const queries = useQueryClient();
  return useCallback(() => void queries.invalidateQueries({ queryKey: TASKS_KEY }), [queries]);
}

export const cancelTask = (id: string): Promise<StatusView> => deleteJson(`/api/tasks/${encodeURIComponent(id)}`);

/** The tasks of an instance, by its ref. */
export const useTasksOf = (ref: string): readonly TaskView[] =>
  useTasks().data?.filter((task) => task.ref === ref) ?? [];
