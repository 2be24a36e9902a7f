import { t } from '@lingui/core/macro';
import { useMutation } from '@tanstack/react-query';
import type { TaskView } from '@headgate/api-contracts';
import { cancelTask, useRefreshTasks } from '../../../shared/tasks/use-tasks.js';
import { Button } from '../../../shared/ui/button.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';

/** Cancels a running task, if its current step can be interrupted. */
export function CancelTask({ task: { id, cancelable, canceledBy } }: { task: TaskView }) {
  const cancel = useMutation({ mutationFn: () => cancelTask(id), onSuccess: useRefreshTasks() });
  if (canceledBy !== undefined) return <p className="hg-note">{t`Canceling`}</p>;
  if (!cancelable && !cancel.error) return null;
  return (
    <>
      <Button isSmall variant="secondary" isDisabled={cancel.isPending} onClick={() => cancel.mutate()}>
        {t`Cancel`}
      </Button>
      {cancel.error && <ErrorAlert title={t`Couldn't cancel the task`} error={cancel.error} />}
    </>
  );
}
