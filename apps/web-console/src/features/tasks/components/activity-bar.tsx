import { t } from '@lingui/core/macro';
import type { TaskView } from '@headgate/api-contracts';
import { taskTitle } from '../../../shared/tasks/task-title.js';
import { isRunning } from '../../../shared/tasks/use-tasks.js';
import { Icon } from '../../../shared/ui/icon.js';
import { Timestamp } from '../../../shared/ui/timestamp.js';
import { Pulse } from './pulse.js';
import { useTasksDrawer } from './use-tasks-drawer.js';

/** The running tasks that are shown with their progress. */
const SHOWN = 2;

/**
 * The bar at the bottom of all pages: the tasks that run, the last change, and the pulse of a day. Opens the drawer
 * with all tasks.
 */
export function ActivityBar() {
  const { tasks, running, label, isOpen, toggle, drawer } = useTasksDrawer();
  const last = lastEnded(tasks);
  return (
    <footer className="hg-bar">
      <button type="button" className="hg-bar-button" aria-label={label} aria-expanded={isOpen} onClick={toggle}>
        <Icon name={running.length > 0 ? 'arc' : 'tasks'} />
        {running.length > 0 ? <b>{t`${running.length} running`}</b> : t`Tasks`}
      </button>
      {running.slice(0, SHOWN).map((task) => (
        <BarTask key={task.id} task={task} />
      ))}
      {running.length > SHOWN && <span className="hg-note hg-bar-part">+{running.length - SHOWN}</span>}
      <span className="hg-spring" />
      {last && (
        <span className="hg-bar-last">
          {last.status === 'error' && <Icon name="diamond" className="hg-status--danger" />}
          <span>
            {last.caller === ''
              ? t`Last change: ${outcome(last)}, `
              : t`Last change by ${last.caller}: ${outcome(last)}, `}
            <Timestamp at={last.finishedAt ?? last.startedAt} />
          </span>
        </span>
      )}
      <Pulse />
      {drawer}
    </footer>
  );
}

function BarTask({ task }: { task: TaskView }) {
  const percent = task.progress === null ? undefined : Math.round(task.progress * 100);
  return (
    <span className="hg-bar-part">
      <span className="hg-bar-title">{taskTitle(task)}</span>
      {percent !== undefined && (
        <>
          {/* The figure after it is the same. */}
          <span className="hg-bar-track" aria-hidden="true">
            <span style={{ inlineSize: `${percent}%` }} />
          </span>
          {percent} %
        </>
      )}
    </span>
  );
}

/** The task that ended last; the list is in the order of the starts. */
const lastEnded = (tasks: readonly TaskView[]): TaskView | undefined =>
  tasks
    .filter((task) => !isRunning(task))
    .reduce<TaskView | undefined>(
      (last, task) => (last && (last.finishedAt ?? '') >= (task.finishedAt ?? '') ? last : task),
      undefined,
    );

const outcome = (task: TaskView): string => `${taskTitle(task)} ${task.status === 'error' ? 'failed' : t`is done`}`;
