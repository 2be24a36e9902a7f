import { Button, ExpandableSection } from '@patternfly/react-core';
import { useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import { placeOfRef } from '../../../shared/location/places.js';
import { TaskBar } from '../../../shared/tasks/task-bar.js';
import { useTaskProgress, type TaskProgress } from '../../../shared/tasks/use-task.js';
import { forgetTasks, useWatchedTasks } from '../../../shared/tasks/watched-tasks.js';
import { useNotify } from '../../../shared/ui/notifications.js';
import { Icon } from '../../../shared/ui/icon.js';

/** How many tasks run; opens the drawer that says how far each is. */
export function TasksButton() {
  const [open, setOpen] = useState(false);
  const tasks = useTaskProgress(useWatchedTasks());
  useTellWhenFinished(tasks);
  const running = tasks.filter(({ task }) => task?.status === 'running').length;
  const label = running === 0 ? 'Tasks' : `Tasks: ${running} running`;

  return (
    <>
      <button
        type="button"
        className="hg-icon-button"
        aria-label={label}
        title={label}
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        <Icon name="tasks" />
        {running > 0 && <span className="hg-count">{running}</span>}
      </button>
      {open && <TasksDrawer tasks={tasks} onClose={() => setOpen(false)} />}
    </>
  );
}

/** Says once how a task ended that was seen running. */
function useTellWhenFinished(tasks: readonly TaskProgress[]): void {
  const notify = useNotify();
  const seen = useRef(new Set<string>());
  useEffect(() => {
    for (const { id, title, task } of tasks) {
      if (task?.status === 'running') seen.current.add(id);
      else if (task && seen.current.delete(id)) {
        notify(
          task.status === 'done'
            ? { variant: 'success', title: `${title}: done` }
            : { variant: 'danger', title: `${title}: failed`, body: task.error },
        );
      }
    }
  }, [tasks, notify]);
}

function TasksDrawer({ tasks, onClose }: { tasks: readonly TaskProgress[]; onClose: () => void }) {
  const drawer = useRef<HTMLElement>(null);
  useEffect(() => drawer.current?.focus(), []);
  const finished = tasks.filter(({ task, problem }) => (task ? task.status !== 'running' : problem !== undefined));

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
        {finished.length > 0 && (
          <Button variant="link" size="sm" onClick={() => forgetTasks(finished.map(({ id }) => id))}>
            Clear finished
          </Button>
        )}
        <button type="button" className="hg-icon-button" aria-label="Close tasks" onClick={onClose}>
          <Icon name="cross" />
        </button>
      </header>
      {tasks.length === 0 && (
        <p className="hg-note">Nothing was begun from this browser: creates, builds and migrations appear here.</p>
      )}
      <ul>
        {tasks.map((progress) => (
          <li key={progress.id}>
            <TaskBar progress={progress} />
            {(progress.ref ?? progress.task?.ref) && (
              <Link href={placeOfRef(progress.ref ?? progress.task?.ref ?? '')} onClick={onClose}>
                Open
              </Link>
            )}
            {progress.task?.log && (
              <ExpandableSection toggleText="Log" displaySize="default">
                <pre className="hg-log">{progress.task.log}</pre>
              </ExpandableSection>
            )}
          </li>
        ))}
      </ul>
    </aside>
  );
}
