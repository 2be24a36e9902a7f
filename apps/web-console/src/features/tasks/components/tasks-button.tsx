import { useState } from 'react';
import { isRunning, useTasks } from '../../../shared/tasks/use-tasks.js';
import { Icon } from '../../../shared/ui/icon.js';
import { useTaskNotices } from '../use-task-notices.js';
import { TasksDrawer } from './tasks-drawer.js';

const NONE: readonly never[] = [];

/** The number of running tasks. Opens the drawer with all tasks. */
export function TasksButton() {
  const [open, setOpen] = useState(false);
  const { data: tasks = NONE, error } = useTasks();
  useTaskNotices(tasks);
  const running = tasks.filter(isRunning).length;
  const label = running === 0 ? 'Tasks' : `Tasks: ${running} running`;

  return (
    <>
      <button
        type="button"
        className="hg-icon-button hg-tasks-button"
        aria-label={label}
        title={label}
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        <Icon name="tasks" />
        {running > 0 && <span className="hg-count">{running}</span>}
      </button>
      {open && <TasksDrawer tasks={tasks} error={error} onClose={() => setOpen(false)} />}
    </>
  );
}
