import { TaskBar } from '../../../shared/tasks/task-bar.js';
import { useTasksOf } from '../../../shared/tasks/use-tasks.js';

/** Long work on this instance that goes on, or that failed last. */
export function RunningTask({ subject }: { subject: string }) {
  const open = useTasksOf(subject).filter(
    ({ status }, index) => status === 'running' || (status === 'error' && index === 0),
  );
  if (open.length === 0) return null;
  return (
    <section className="hg-card hg-gap-below" aria-label="Running tasks">
      {open.map((task) => (
        <TaskBar key={task.id} task={task} />
      ))}
    </section>
  );
}
