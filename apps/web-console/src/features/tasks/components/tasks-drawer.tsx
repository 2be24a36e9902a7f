import type { TaskView } from '@headgate/api-contracts';
import { useEffect, useRef, useState } from 'react';
import { isRunning } from '../../../shared/tasks/use-tasks.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Icon } from '../../../shared/ui/icon.js';
import { TaskItem } from './task-item.js';

interface TasksDrawerProps {
  tasks: readonly TaskView[];
  error: Error | null;
  onClose: () => void;
}

const VIEWS = {
  all: { label: 'All', shows: () => true },
  running: { label: 'Running', shows: isRunning },
  failed: { label: 'Failed', shows: ({ status }: TaskView) => status === 'error' },
} as const;
type View = keyof typeof VIEWS;

/** The latest tasks of all users. */
export function TasksDrawer({ tasks, error, onClose }: TasksDrawerProps) {
  const drawer = useRef<HTMLElement>(null);
  const [view, setView] = useState<View>('all');
  useEffect(() => {
    const before = document.activeElement;
    drawer.current?.focus();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  const shown = tasks.filter(VIEWS[view].shows);

  return (
    <aside
      ref={drawer}
      className="hg-drawer"
      aria-label="Tasks"
      tabIndex={-1}
      onKeyDown={(event) => event.key === 'Escape' && onClose()}
    >
      <header>
        <h2>Tasks</h2>
        <span className="hg-spring" />
        <div className="hg-chips" role="group" aria-label="Filter tasks">
          {Object.entries(VIEWS).map(([name, { label, shows }]) => (
            <button
              key={name}
              type="button"
              className="hg-chip"
              aria-pressed={view === name}
              onClick={() => setView(name as View)}
            >
              {label} <b>{tasks.filter(shows).length}</b>
            </button>
          ))}
        </div>
        <button type="button" className="hg-icon-button" aria-label="Close tasks" onClick={onClose}>
          <Icon name="cross" />
        </button>
      </header>
      {error && <ErrorAlert title="Couldn't load the tasks" error={error} />}
      {!error && shown.length === 0 && (
        <p className="hg-note">
          {tasks.length === 0
            ? 'No tasks yet. Tasks appear here when VMs are created, built, or migrated, and for actions on several instances.'
            : 'No matching tasks'}
        </p>
      )}
      <ul>
        {shown.map((task) => (
          <TaskItem key={task.id} task={task} onOpen={onClose} />
        ))}
      </ul>
    </aside>
  );
}
