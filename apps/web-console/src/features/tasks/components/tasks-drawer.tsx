import { t } from '@lingui/core/macro';
import type { TaskView } from '@headgate/api-contracts';
import { useEffect, useRef, useState } from 'react';
import { Icon } from '../../../shared/ui/icon.js';
import { TaskFilter, TaskList, type TaskSelection } from './task-list.js';

interface TasksDrawerProps {
  tasks: readonly TaskView[];
  error: Error | null;
  onClose: () => void;
}

/** The latest tasks of all users. */
export function TasksDrawer({ tasks, error, onClose }: TasksDrawerProps) {
  const drawer = useRef<HTMLElement>(null);
  const [view, setView] = useState<TaskSelection>('all');
  useEffect(() => {
    const before = document.activeElement;
    drawer.current?.focus();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);

  return (
    <aside
      ref={drawer}
      className="hg-drawer"
      aria-label={t`Tasks`}
      tabIndex={-1}
      onKeyDown={(event) => event.key === 'Escape' && onClose()}
    >
      <header>
        <h2>{t`Tasks`}</h2>
        <span className="hg-spring" />
        <TaskFilter tasks={tasks} selection={view} onChange={setView} />
        <button type="button" className="hg-icon-button" aria-label={t`Close tasks`} onClick={onClose}>
          <Icon name="cross" />
        </button>
      </header>
      <TaskList tasks={tasks} error={error} selection={view} onOpen={onClose} />
    </aside>
  );
}
