import { t } from '@lingui/core/macro';
import { useMutation } from '@tanstack/react-query';
import type { TaskView } from '@headgate/api-contracts';
import { useTrackTask } from '../../tasks/track-task.js';
import { isRunning, useRefreshTasks, useTask } from '../../tasks/use-tasks.js';
import { Button } from '../../ui/button.js';
import { CopyButton } from '../../ui/copy.js';
import { Disclosure } from '../../ui/disclosure.js';
import { ErrorAlert } from '../../ui/error-alert.js';
import { cancelBulk, bulkLabel, pauseBulk, resumeBulk, retryBulk } from '../bulk-request.js';
import { bulkReport, nameOfRef } from '../bulk-report.js';
import { readableNumber } from '../../texts/formats.js';

/** The counts of a bulk task in the list of tasks, with the ways to stop it and to retry what failed. */
export function BulkTaskDetails({ task }: { task: TaskView }) {
  const trackTask = useTrackTask();
  const cancel = useMutation({ mutationFn: () => cancelBulk(task.id) });
  const isPaused = task.bulk?.paused === true;
  const pause = useMutation({
    mutationFn: () => (isPaused ? resumeBulk(task.id) : pauseBulk(task.id)),
    onSuccess: useRefreshTasks(),
  });
  const retry = useMutation({ mutationFn: () => retryBulk(task.id), onSuccess: trackTask });
  const { summary, unfinished } = bulkReport('', task);
  const error = cancel.error ?? pause.error ?? retry.error;
  return (
    <>
      <p className="hg-note">{summary}</p>
      {isRunning(task) && (
        <>
          <Button
            isSmall
            variant="secondary"
            isDisabled={pause.isPending || cancel.isSuccess}
            onClick={() => pause.mutate()}
          >
            {isPaused ? t`Resume` : t`Pause`}
          </Button>
          <Button
            isSmall
            variant="secondary"
            isDisabled={cancel.isPending || cancel.isSuccess}
            onClick={() => cancel.mutate()}
          >
            {t`Stop`}
          </Button>
        </>
      )}
      {!isRunning(task) && unfinished > 0 && (
        <>
          <Button
            isSmall
            variant="secondary"
            isDisabled={retry.isPending || retry.isSuccess}
            onClick={() => retry.mutate()}
          >
            {retryLabel(unfinished)}
          </Button>
          <Disclosure label={t`Failures`}>
            <Failures id={task.id} />
          </Disclosure>
        </>
      )}
      {error && <ErrorAlert title={t`The request failed`} error={error} />}
    </>
  );
}

function Failures({ id }: { id: string }) {
  const { data: task, error } = useTask(id);
  if (error) return <ErrorAlert title={t`Couldn't load the results`} error={error} />;
  if (!task) return null;
  const { failed, text } = bulkReport(task.bulk ? bulkLabel(task.bulk) : '', task);
  return (
    <>
      <ul>
        {failed.map(({ ref, error: reason }) => (
          <li key={ref}>
            {nameOfRef(ref)}: {reason}
          </li>
        ))}
      </ul>
      <CopyButton text={text} label={t`Copy report`} />
    </>
  );
}

export const retryLabel = (unfinished: number): string => t`Retry ${readableNumber(unfinished)} failed`;
