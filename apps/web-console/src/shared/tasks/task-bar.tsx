import { Progress, ProgressMeasureLocation } from '@patternfly/react-core';
import type { TaskProgress } from './use-task.js';

/** How far one task is, in words and as a bar. */
export function TaskBar({ progress: { title, task, problem } }: { progress: TaskProgress }) {
  const step = task?.steps.at(-1)?.name;
  const failed = task?.status === 'error';
  const percent = task?.status === 'done' ? 100 : Math.round((task?.progress ?? 0) * 100);
  return (
    <div className="hg-task">
      <Progress
        size="sm"
        title={title}
        value={percent}
        valueText={`${title}: ${percent} %`}
        label={task?.progress === null && task.status === 'running' ? 'running' : `${percent} %`}
        measureLocation={ProgressMeasureLocation.outside}
        {...(failed ? { variant: 'danger' as const } : task?.status === 'done' ? { variant: 'success' as const } : {})}
      />
      <p className={failed ? 'hg-status--bad' : 'hg-note'} role={failed ? 'alert' : undefined}>
        {failed ? task.error : (problem?.message ?? (task?.status === 'done' ? 'Done' : step))}
      </p>
    </div>
  );
}
