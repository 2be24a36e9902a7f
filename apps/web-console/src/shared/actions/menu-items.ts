import type { MenuItem } from '../ui/dropdown.js';
import type { Instance } from '../instances/instance.js';
import type { Action, ActionId } from './action.js';
import { actionsOf } from './registry.js';
import type { Actions } from './use-actions.js';
import type { ActionRefusal } from './use-action-refusal.js';

/** Tags are edited where they are shown: they need a text. */
const NOT_IN_MENUS: readonly ActionId[] = ['tag', 'untag'];

/** The menu of an instance. Actions that are off have their reason, and Delete is last, after a line. */
export const menuItems = (
  instance: Instance,
  { run, refusal, without }: Pick<Actions, 'run'> & { readonly refusal: ActionRefusal; readonly without?: ActionId },
): readonly MenuItem[] =>
  actionsOf(instance)
    .filter(({ id }) => id !== without && !NOT_IN_MENUS.includes(id))
    .map((action): MenuItem => ({
      label: menuLabel(action),
      icon: action.icon,
      reason: refusal(action.id, instance),
      ...(action.id === 'delete' && { isDanger: true, afterLine: true }),
      run: () => run({ id: action.id, instance }),
    }));

/** "…" means that a plan or a choice follows. */
const menuLabel = ({ label, effect, request }: Action): string => (effect === 'none' && request ? label : `${label}…`);
