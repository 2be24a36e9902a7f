import { t } from '@lingui/core/macro';
import { Icon } from '../../../shared/ui/icon.js';
import { useTasksDrawer } from './use-tasks-drawer.js';

interface TasksButtonProps {
  /** Whether it has a text below its icon, as in the bar of a phone. */
  hasText?: boolean;
}

/** The number of running tasks, where there is no activity bar. Opens the drawer with all tasks. */
export function TasksButton({ hasText = false }: TasksButtonProps) {
  const { running, label, isOpen, toggle, drawer } = useTasksDrawer();
  return (
    <>
      <button
        type="button"
        className={hasText ? 'hg-phone-link' : 'hg-icon-button hg-tasks-button'}
        aria-label={label}
        title={label}
        aria-expanded={isOpen}
        onClick={toggle}
      >
        <Icon name="tasks" />
        {hasText && <span>{t`Tasks`}</span>}
        {running.length > 0 && <span className="hg-count">{running.length}</span>}
      </button>
      {drawer}
    </>
  );
}
