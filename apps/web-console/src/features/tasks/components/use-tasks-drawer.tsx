import { t } from '@lingui/core/macro';
import { useState, type ReactNode } from 'react';
import type { TaskView } from '@headgate/api-contracts';
import { isRunning, useTasks } from '../../../shared/tasks/use-tasks.js';
import { TasksDrawer } from './tasks-drawer.js';
import { useTaskNotices } from '../use-task-notices.js';

interface TasksDrawerState {
  readonly tasks: readonly TaskView[];
  readonly running: readonly TaskView[];
  /** The name of the button: "Tasks: 2 running". */
  readonly label: string;
  readonly isOpen: boolean;
  readonly toggle: () => void;
  /** The drawer, while it is open. */
  readonly drawer: ReactNode;
}

const NONE: readonly never[] = [];

/** The tasks and their drawer, for the one button on the page that opens it. Reports tasks that have ended. */
export function useTasksDrawer(): TasksDrawerState {
  const [isOpen, setIsOpen] = useState(false);
  const { data: tasks = NONE, error } = useTasks();
  useTaskNotices(tasks);
  const running = tasks.filter(isRunning);
  return {
    tasks,
    running,
    label: running.length === 0 ? t`Tasks` : t`Tasks: ${running.length} running`,
    isOpen,
    toggle: () => setIsOpen(!isOpen),
    drawer: isOpen && <TasksDrawer tasks={tasks} error={error} onClose={() => setIsOpen(false)} />,
  };
}
