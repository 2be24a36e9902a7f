import type { TaskView } from '@headgate/api-contracts';
import { useEffect } from 'react';
import { begunHere, wasTold } from '../../shared/tasks/begun-tasks.js';
import { taskTitle } from '../../shared/tasks/task-title.js';
import { isRunning } from '../../shared/tasks/use-tasks.js';
import { useNotify } from '../../shared/ui/notifications.js';

/** Says once how a task ended that was begun here. */
export function useToldTasks(tasks: readonly TaskView[]): void {
  const notify = useNotify();
  useEffect(() => {
    for (const task of tasks) {
      if (isRunning(task) || !begunHere(task.id) || !wasTold(task.id)) continue;
      notify(
        task.status === 'done'
          ? { variant: 'success', title: `${taskTitle(task)}: done` }
          : { variant: 'danger', title: `${taskTitle(task)}: failed`, body: task.error },
      );
    }
  }, [tasks, notify]);
}
