import { t } from '@lingui/core/macro';
import { TaskBar } from '../../../shared/tasks/task-bar.js';
import { useTasksOf } from '../../../shared/tasks/use-tasks.js';

/** The running tasks of an instance, and its latest task if that failed. */
export function RunningTask({ subject }: { subject: string }) {
  const shown = useTasksOf(subject).filter(
    ({ status }, index) => status === 'running' || (status === 'error' && index === 0),
  );
  if (shown.length === 0) return null;
  return (
    <section className="hg-card hg-gap-below" aria-label={t`Running tasks`}>
      {shown.map((task) => (
        <TaskBar key={task.id} task={task} />
      ))}
    </section>
  );
}
