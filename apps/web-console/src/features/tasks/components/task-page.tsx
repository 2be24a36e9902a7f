import { t } from '@lingui/core/macro';
import { useParams } from 'wouter';
import { PAGE_FOCUS } from '../../../shared/location/use-page-focus.js';
import { taskTitle } from '../../../shared/tasks/task-title.js';
import { useTask } from '../../../shared/tasks/use-tasks.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Skeleton } from '../../../shared/ui/loading.js';
import { usePageTitle } from '../../../shared/ui/use-page-title.js';
import { TaskItem } from './task-item.js';

/** One task, so that a link can lead to it. */
export function TaskPage() {
  const id = useParams()['id'];
  const { data: task, error } = useTask(id);
  const title = task ? taskTitle(task) : t`Task`;
  usePageTitle(title);
  return (
    <div className="hg-page">
      <h1 className="hg-page-title hg-gap-below" {...PAGE_FOCUS}>
        {title}
      </h1>
      {error && <ErrorAlert title={t`Couldn't load the task`} error={error} />}
      {!error && !task && <Skeleton height="6rem" label={t`Loading the task`} />}
      {task && (
        <ul className="hg-card hg-task">
          <TaskItem task={task} onOpen={() => undefined} />
        </ul>
      )}
    </div>
  );
}
