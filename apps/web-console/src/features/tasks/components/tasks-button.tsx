import { Icon } from '../../../shared/ui/icon.js';
import { useTasksDrawer } from './use-tasks-drawer.js';

/** The number of running tasks, where there is no activity bar. Opens the drawer with all tasks. */
export function TasksButton() {
  const { running, label, isOpen, toggle, drawer } = useTasksDrawer();
  return (
    <>
      <button
        type="button"
        className="hg-icon-button hg-tasks-button"
        aria-label={label}
        title={label}
        aria-expanded={isOpen}
        onClick={toggle}
      >
        <Icon name="tasks" />
        {running.length > 0 && <span className="hg-count">{running.length}</span>}
      </button>
      {drawer}
    </>
  );
}
