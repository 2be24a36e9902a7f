import { useSyncExternalStore } from 'react';
import { recall, remember } from '../storage/remembered.js';

/** Long work that this browser began. The service is asked how far each one is. */
export interface WatchedTask {
  readonly id: string;
  /** What it does, for people: «Create web-1». */
  readonly title: string;
  /** The instance that it works on, where that is known. */
  readonly ref?: string;
}

const KEY = 'tasks';
const KEPT = 50;
let watched: readonly WatchedTask[] | undefined;
const listeners = new Set<() => void>();

const current = (): readonly WatchedTask[] => (watched ??= recall<WatchedTask[]>(KEY, []));

function change(next: readonly WatchedTask[]): void {
  watched = next;
  remember(KEY, next);
  for (const listener of listeners) listener();
}

export const watchTask = (task: WatchedTask): void =>
  change([task, ...current().filter(({ id }) => id !== task.id)].slice(0, KEPT));

export const forgetTasks = (ids: readonly string[]): void => change(current().filter(({ id }) => !ids.includes(id)));

export const useWatchedTasks = (): readonly WatchedTask[] =>
  useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, current);
