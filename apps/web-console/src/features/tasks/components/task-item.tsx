import type { TaskView } from '@headgate/api-contracts';
import { Link } from 'wouter';
import { pathOfRef } from '../../../shared/location/paths.js';
import { TaskBar } from '../../../shared/tasks/task-bar.js';
import { taskTitle } from '../../../shared/tasks/task-title.js';
import { BulkTaskDetails } from '../../../shared/bulk/components/bulk-task-details.js';
import { Disclosure } from '../../../shared/ui/disclosure.js';
import { Timestamp } from '../../../shared/ui/timestamp.js';

/** One task: its progress, when it was started and by whom, its log, and a link to its instance. */
export function TaskItem({ task, onOpen }: { task: TaskView; onOpen: () => void }) {
  const { ref, log, caller, startedAt } = task;
  return (
    <li aria-label={taskTitle(task)}>
      <TaskBar task={task} />
      <p className="hg-note">
        <Timestamp at={startedAt} />
        {caller !== '' && `, ${caller}`}
      </p>
      {ref !== '' && (
        <Link href={pathOfRef(ref)} onClick={onOpen}>
          {task.kind === 'import' ? 'Show images' : 'Show instance'}
        </Link>
      )}
      {task.kind === 'bulk' && <BulkTaskDetails task={task} />}
      {log !== '' && (
        <Disclosure label="Log">
          <pre className="hg-log" tabIndex={0}>
            {log}
          </pre>
        </Disclosure>
      )}
    </li>
  );
}
