import { t } from '@lingui/core/macro';
import { useQueryClient } from '@tanstack/react-query';
import type { TaskView } from '@headgate/api-contracts';
import { useEffect } from 'react';
import { SNAPSHOTS_KEY } from '../../shared/queries/snapshots-key.js';
import { taskTitle } from '../../shared/tasks/task-title.js';
import { takeTrackedTask } from '../../shared/tasks/track-task.js';
import { isRunning } from '../../shared/tasks/use-tasks.js';
import { useNotify } from '../../shared/ui/notifications.js';

/** Reports the result of each task that this page started, once, and reads the snapshots that are shown again. */
export function useTaskNotices(tasks: readonly TaskView[]): void {
  const notify = useNotify();
  const queries = useQueryClient();
  useEffect(() => {
    for (const task of tasks) {
      if (isRunning(task) || !takeTrackedTask(task.id)) continue;
      // Some engines list a snapshot only once its task has created it, and until its task has deleted it.
      void queries.invalidateQueries({ queryKey: [SNAPSHOTS_KEY] });
      notify(
        task.status === 'done'
          ? { variant: 'success', title: t`${taskTitle(task)}: done` }
          : { variant: 'danger', title: t`${taskTitle(task)}: failed`, body: task.error },
      );
    }
  }, [tasks, notify, queries]);
}
