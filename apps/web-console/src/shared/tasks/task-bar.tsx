import { Progress, ProgressMeasureLocation } from '@patternfly/react-core';
import type { TaskView } from '@headgate/api-contracts';
import { taskTitle } from './task-title.js';

/** How far one task is, in words and as a bar. */
export function TaskBar({ task }: { task: TaskView }) {
  const { status, progress, error, steps } = task;
  const title = taskTitle(task);
  const percent = status === 'done' ? 100 : Math.round((progress ?? 0) * 100);
  const failed = status === 'error';
  return (
    <div className="hg-task">
      <Progress
        size="sm"
        title={title}
        value={percent}
        valueText={`${title}: ${percent} %`}
        label={progress === null && status === 'running' ? 'running' : `${percent} %`}
        measureLocation={ProgressMeasureLocation.outside}
        {...(failed ? { variant: 'danger' as const } : status === 'done' ? { variant: 'success' as const } : {})}
      />
      <p className={failed ? 'hg-status--bad' : 'hg-note'} role={failed ? 'alert' : undefined}>
        {failed ? error : status === 'done' ? 'Done' : steps.at(-1)?.name}
      </p>
    </div>
  );
}
