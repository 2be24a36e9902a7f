import type { TaskView } from '@headgate/api-contracts';
import { Progress } from '../ui/progress.js';
import { taskTitle } from './task-title.js';

/** The progress of one task, as text and as a bar. */
export function TaskBar({ task }: { task: TaskView }) {
  const { status, progress, error, steps } = task;
  const title = taskTitle(task);
  const percent = status === 'done' ? 100 : Math.round((progress ?? 0) * 100);
  const failed = status === 'error';
  return (
    <div>
      <Progress
        title={title}
        percent={percent}
        valueText={`${title}: ${percent}%`}
        label={progress === null && status === 'running' ? 'Running' : `${percent}%`}
        tone={failed ? 'danger' : status === 'done' ? 'success' : 'progress'}
      />
      <p className={failed ? 'hg-status--danger' : 'hg-note'} role={failed ? 'alert' : undefined}>
        {failed ? error : status === 'done' ? 'Done' : steps.at(-1)?.name}
      </p>
    </div>
  );
}
