import { t } from '@lingui/core/macro';
import type { TaskView } from '@headgate/api-contracts';
import { useEffect } from 'react';
import { taskTitle } from '../../shared/tasks/task-title.js';
import { takeTrackedTask } from '../../shared/tasks/track-task.js';
import { isRunning } from '../../shared/tasks/use-tasks.js';
import { useNotify } from '../../shared/ui/notifications.js';

/** Reports the result of each task that this page started, once. */
export function useTaskNotices(tasks: readonly TaskView[]): void {
  const notify = useNotify();
  useEffect(() => {
    for (const task of tasks) {
      if (isRunning(task) || !takeTrackedTask(task.id)) continue;
      notify(
        task.status === 'done'
          ? { variant: 'success', title: t`${taskTitle(task)}: done` }
          : { variant: 'danger', title: t`${taskTitle(task)}: failed`, body: task.error },
      );
    }
  }, [tasks, notify]);
}
