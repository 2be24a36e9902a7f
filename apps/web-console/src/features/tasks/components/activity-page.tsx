import { useState } from 'react';
import { Link } from 'wouter';
import { paths } from '../../../shared/location/paths.js';
import { PAGE_FOCUS } from '../../../shared/location/use-page-focus.js';
import { isAdministrator, useWhoami } from '../../../shared/queries/use-whoami.js';
import { useTasks } from '../../../shared/tasks/use-tasks.js';
import { Skeleton } from '../../../shared/ui/loading.js';
import { usePageTitle } from '../../../shared/ui/use-page-title.js';
import { TaskFilter, TaskList, type TaskSelection } from './task-list.js';

/** The latest tasks of all users. Administrators find the journal of all requests from here. */
export function ActivityPage() {
  usePageTitle('Activity');
  const { data: tasks, error } = useTasks();
  const { data: whoami } = useWhoami();
  const [selection, setSelection] = useState<TaskSelection>('all');
  return (
    <div className="hg-page">
      <div className="hg-toolbar hg-gap-below">
        <h1 className="hg-page-title" {...PAGE_FOCUS}>
          Activity
        </h1>
        {tasks && <TaskFilter tasks={tasks} selection={selection} onChange={setSelection} />}
        <span className="hg-spring" />
        {isAdministrator(whoami) && <Link href={paths.journal}>Journal of all requests</Link>}
      </div>
      {tasks || error ? (
        <div className="hg-card hg-task">
          <TaskList tasks={tasks ?? []} error={error} selection={selection} onOpen={() => undefined} />
        </div>
      ) : (
        <Skeleton height="6rem" label="Loading the tasks" />
      )}
    </div>
  );
}
