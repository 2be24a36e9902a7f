import type { TaskView } from '@headgate/api-contracts';
import { isRunning, useTasks } from './use-tasks.js';

/** The progress of running tasks, from 0 to 1, by the ref of their instance. */
export type Progresses = Readonly<Record<string, number>>;

const NONE: Progresses = {};

const progressByRef = (tasks: readonly TaskView[]): Progresses =>
  Object.fromEntries(
    tasks.flatMap((task) => (isRunning(task) && task.progress !== null ? [[task.ref, inPercent(task.progress)]] : [])),
  );

/** Whole percents, so that a list is rendered again only for a progress that it shows. */
const inPercent = (progress: number): number => Math.round(progress * 100) / 100;

/** How far the tasks of instances are. */
export const useProgresses = (): Progresses => useTasks(progressByRef).data ?? NONE;
