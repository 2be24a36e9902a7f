import { t } from '@lingui/core/macro';
import type { TaskView } from '@headgate/api-contracts';
import { readableEstimate, readablePromise, readableSeconds } from '../quantity/duration.js';
import { readableBytes, readableSizes } from '../quantity/quantity.js';
import { Progress } from '../ui/progress.js';
import { taskTitle } from './task-title.js';

/** The progress of one task, as text and as a bar. */
export function TaskBar({ task }: { task: TaskView }) {
  const { status, progress, error, waiting, waitsFor, promised, tookSeconds } = task;
  const title = taskTitle(task);
  const percent = status === 'done' ? 100 : Math.round((progress ?? 0) * 100);
  const failed = status === 'error';
  return (
    <div>
      <Progress
        title={title}
        percent={percent}
        valueText={`${title}: ${percent}%`}
        label={progress === null && status === 'running' ? t`Running` : `${percent}%`}
        tone={failed ? 'danger' : status === 'done' ? 'success' : 'progress'}
      />
      <p className={failed ? 'hg-status--danger' : 'hg-note'} role={failed ? 'alert' : undefined}>
        {failed
          ? readableSizes(error)
          : status === 'done'
            ? [t`Done`, readablePromise(promised, tookSeconds)].filter(Boolean).join(': ')
            : (waiting ?? currentStep(task))}
      </p>
      {status === 'running' && promised && <p className="hg-note">{t`Usually takes ${readableEstimate(promised)}`}</p>}
      {status === 'running' && waitsFor !== undefined && <p className="hg-note">{t`Waits for ${waitsFor}`}</p>}
    </div>
  );
}

/** "Copy the disk: 1.5 GiB of 4 GiB, 2 min left". */
function currentStep({ steps, transfer }: TaskView): string {
  const name = steps.at(-1)?.name ?? '';
  if (!transfer) return name;
  const { doneBytes, totalBytes, remainingSeconds } = transfer;
  const total = totalBytes === null ? '' : t` of ${readableBytes(totalBytes)}`;
  const left = remainingSeconds === null ? '' : t`, ${readableSeconds(remainingSeconds)} left`;
  return `${name}: ${readableBytes(doneBytes)}${total}${left}`;
}
