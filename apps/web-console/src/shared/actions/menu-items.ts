import { t } from '@lingui/core/macro';
import type { MenuItem } from '../ui/dropdown.js';
import type { Instance } from '../instances/instance.js';
import type { Action, ActionId } from './action.js';
import { actionsOf } from './registry.js';
import type { Actions } from './use-actions.js';
import type { ActionRefusal } from './use-action-refusal.js';

/** Tags and folders are edited where they are shown: they need a text. */
const NOT_IN_MENUS: readonly ActionId[] = ['tag', 'untag', 'folder', 'unfolder'];

interface MenuTools extends Pick<Actions, 'run'> {
  readonly refusal: ActionRefusal;
}

/** The menu of an instance. Actions that are off have their reason, and Delete is last, after a line. */
export const menuItems = (
  instance: Instance,
  { without, ...tools }: MenuTools & { readonly without?: ActionId },
): readonly MenuItem[] =>
  menuActions(instance)
    .filter(({ id }) => id !== without)
    .map((action) => menuItem(action, instance, tools));

/** The actions that menus offer for an instance. */
export const menuActions = (instance: Instance): readonly Action[] => actionsOf(instance).filter(isInMenus);

export const isInMenus = ({ id }: Pick<Action, 'id'>): boolean => !NOT_IN_MENUS.includes(id);

/** @param subject the name of the instance, where the menu does not show it */
export const menuItem = (
  action: Action,
  instance: Instance,
  { run, refusal }: MenuTools,
  subject?: string,
): MenuItem => ({
  label: menuLabel(action, subject),
  icon: action.icon,
  reason: refusal(action.id, instance),
  ...(action.id === 'delete' && { isDanger: true, afterLine: true }),
  run: () => run({ id: action.id, instance }),
});

/** "…" means that a plan or a choice follows. */
const menuLabel = ({ label, effect, request }: Action, subject?: string): string =>
  `${subject === undefined ? label : labelOf(label, subject)}${effect === 'none' && request ? '' : '…'}`;

const labelOf = (label: string, name: string): string => t`${label} ${name}`;
