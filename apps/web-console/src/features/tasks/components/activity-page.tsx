import { t } from '@lingui/core/macro';
import type { TaskView } from '@headgate/api-contracts';
import { useState } from 'react';
import { Link } from 'wouter';
import { ActivityChart } from '../../../shared/activity/activity-chart.js';
import { useActivitySelection, type TimeSpan } from '../../../shared/activity/activity-span.js';
import { paths } from '../../../shared/location/paths.js';
import { PAGE_FOCUS } from '../../../shared/location/use-page-focus.js';
import { useSearchFields } from '../../../shared/location/use-search-fields.js';
import { isAdministrator, useWhoami } from '../../../shared/queries/use-whoami.js';
import { taskTitle } from '../../../shared/tasks/task-title.js';
import { useTasks } from '../../../shared/tasks/use-tasks.js';
import { SearchInput } from '../../../shared/ui/inputs.js';
import { Skeleton } from '../../../shared/ui/loading.js';
import { usePageTitle } from '../../../shared/ui/use-page-title.js';
import { TaskFilter, TaskList, type TaskSelection } from './task-list.js';

/** The latest tasks of all users. Administrators find the journal of all requests from here. */
export function ActivityPage() {
  usePageTitle(t`Activity`);
  const { data, error } = useTasks();
  const [{ q }, change] = useSearchFields(['q']);
  const { span } = useActivitySelection();
  const tasks = data?.filter((task) => isIn(span, task) && matches(task, q));
  const { data: whoami } = useWhoami();
  const [selection, setSelection] = useState<TaskSelection>('all');
  return (
    <div className="hg-page">
      <div className="hg-toolbar hg-gap-below">
        <h1 className="hg-page-title" {...PAGE_FOCUS}>
          {t`Activity`}
        </h1>
        {tasks && <TaskFilter tasks={tasks} selection={selection} onChange={setSelection} />}
        <span className="hg-spring" />
        <SearchInput
          aria-label={t`Filter tasks by instance, user, or action`}
          placeholder={t`Instance, user, or action`}
          value={q}
          onChange={(text) => change({ q: text })}
        />
        {isAdministrator(whoami) && <Link href={paths.journal}>{t`Journal of all requests`}</Link>}
      </div>
      <ActivityChart actionsPath={isAdministrator(whoami) ? paths.journal : undefined} />
      {tasks || error ? (
        <div className="hg-card hg-task">
          <TaskList
            tasks={tasks ?? []}
            error={error}
            selection={selection}
            isFiltered={q !== '' || span !== undefined}
            onOpen={() => undefined}
          />
        </div>
      ) : (
        <Skeleton height="6rem" label={t`Loading the tasks`} />
      )}
    </div>
  );
}

/** Whether a task ran in a span. */
const isIn = (span: TimeSpan | undefined, { startedAt, finishedAt }: TaskView): boolean =>
  span === undefined ||
  (Date.parse(startedAt) < span.to && (finishedAt === null || Date.parse(finishedAt) >= span.from));

/** Whether each word is part of the title, the ref or the user of a task. */
function matches(task: TaskView, query: string): boolean {
  const text = [taskTitle(task), task.ref, task.caller].join(' ').toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
