import { t } from '@lingui/core/macro';
import type { TaskView } from '@headgate/api-contracts';
import { isRunning } from '../../../shared/tasks/use-tasks.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { TaskItem } from './task-item.js';
import { perLanguage } from '../../../shared/texts/per-language.js';

const selections = perLanguage(
  () =>
    ({
      all: { label: t`All`, shows: () => true },
      running: { label: t`Running`, shows: isRunning },
      failed: { label: t`Failed`, shows: ({ status }: TaskView) => status === 'error' },
    }) as const,
);

export type TaskSelection = keyof ReturnType<typeof selections>;

interface TaskFilterProps {
  tasks: readonly TaskView[];
  selection: TaskSelection;
  onChange: (selection: TaskSelection) => void;
}

/** Chooses between all, running, and failed tasks. */
export const TaskFilter = ({ tasks, selection, onChange }: TaskFilterProps) => (
  <div className="hg-chips" role="group" aria-label={t`Filter tasks`}>
    {Object.entries(selections()).map(([name, { label, shows }]) => (
      <button
        key={name}
        type="button"
        className="hg-chip"
        aria-pressed={selection === name}
        onClick={() => onChange(name as TaskSelection)}
      >
        {label} <b>{tasks.filter(shows).length}</b>
      </button>
    ))}
  </div>
);

interface TaskListProps {
  tasks: readonly TaskView[];
  error: Error | null;
  selection: TaskSelection;
  /** Whether some of them were left out already. */
  isFiltered?: boolean;
  /** Called when the user follows a link to an instance. */
  onOpen: () => void;
}

/** The latest tasks, or why they could not be loaded. */
export function TaskList({ tasks, error, selection, isFiltered = false, onOpen }: TaskListProps) {
  const shown = tasks.filter(selections()[selection].shows);
  return (
    <>
      {error && <ErrorAlert title={t`Couldn't load the tasks`} error={error} />}
      {!error && shown.length === 0 && (
        <p className="hg-note">
          {tasks.length === 0 && !isFiltered
            ? t`No tasks yet. Tasks appear here when VMs are created, built, or migrated, and for actions on several instances.`
            : t`No matching tasks`}
        </p>
      )}
      <ul>
        {shown.map((task) => (
          <TaskItem key={task.id} task={task} onOpen={onOpen} />
        ))}
      </ul>
    </>
  );
}
