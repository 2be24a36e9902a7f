import { ExpandableSection } from '@patternfly/react-core';
import type { TaskView } from '@headgate/api-contracts';
import { Link } from 'wouter';
import { placeOfRef } from '../../../shared/location/places.js';
import { TaskBar } from '../../../shared/tasks/task-bar.js';
import { taskTitle } from '../../../shared/tasks/task-title.js';
import { Moment } from '../../../shared/ui/moment.js';

/** One task: how far it is, who began it when, its log, and the way to what it works on. */
export function TaskItem({ task, onOpen }: { task: TaskView; onOpen: () => void }) {
  const { ref, log, caller, startedAt } = task;
  return (
    <li aria-label={taskTitle(task)}>
      <TaskBar task={task} />
      <p className="hg-note">
        <Moment at={startedAt} />
        {caller !== '' && `, ${caller}`}
      </p>
      {ref !== '' && (
        <Link href={placeOfRef(ref)} onClick={onOpen}>
          Open
        </Link>
      )}
      {log !== '' && (
        <ExpandableSection toggleText="Log" displaySize="default">
          <pre className="hg-log" tabIndex={0}>
            {log}
          </pre>
        </ExpandableSection>
      )}
    </li>
  );
}
