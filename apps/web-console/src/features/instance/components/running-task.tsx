import { TaskBar } from '../../../shared/tasks/task-bar.js';
import { useTaskProgress } from '../../../shared/tasks/use-task.js';
import { useWatchedTasks } from '../../../shared/tasks/watched-tasks.js';

/** Long work on this instance that this browser began and that did not end well yet. */
export function RunningTask({ subject }: { subject: string }) {
  const watched = useWatchedTasks().filter(({ ref }) => ref === subject);
  const open = useTaskProgress(watched).filter(({ task }) => task && task.status !== 'done');
  if (open.length === 0) return null;
  return (
    <section className="hg-card hg-gap-below" aria-label="Running tasks">
      {open.map((progress) => (
        <TaskBar key={progress.id} progress={progress} />
      ))}
    </section>
  );
}
