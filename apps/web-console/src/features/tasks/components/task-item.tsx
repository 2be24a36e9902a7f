import { t } from '@lingui/core/macro';
import type { TaskView } from '@headgate/api-contracts';
import { Link } from 'wouter';
import { pathOfRef } from '../../../shared/location/paths.js';
import { TaskBar } from '../../../shared/tasks/task-bar.js';
import { isRunning } from '../../../shared/tasks/use-tasks.js';
import { taskTitle } from '../../../shared/tasks/task-title.js';
import { BulkTaskDetails } from '../../../shared/bulk/components/bulk-task-details.js';
import { CancelTask } from './cancel-task.js';
import { TaskLog } from './task-log.js';
import { Disclosure } from '../../../shared/ui/disclosure.js';
import { Timestamp } from '../../../shared/ui/timestamp.js';

/** One task: its progress, when it was started and by whom, its log, and a link to its instance. */
export function TaskItem({ task, onOpen }: { task: TaskView; onOpen: () => void }) {
  const { ref, caller, startedAt } = task;
  return (
    <li aria-label={taskTitle(task)}>
      <TaskBar task={task} />
      <p className="hg-note">
        <Timestamp at={startedAt} />
        {caller !== '' && `, ${caller}`}
      </p>
      {ref !== '' && (
        <Link href={pathOfRef(ref)} onClick={onOpen}>
          {task.kind === 'import' ? t`Show images` : t`Show instance`}
        </Link>
      )}
      {task.kind === 'bulk' && <BulkTaskDetails task={task} />}
      {task.kind !== 'bulk' && isRunning(task) && <CancelTask task={task} />}
      <Disclosure label={t`Log`}>
        <TaskLog id={task.id} />
      </Disclosure>
    </li>
  );
}
