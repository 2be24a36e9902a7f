import { t } from '@lingui/core/macro';
import type { IconName } from '../../icons.js';
import { isVm, type Instance } from '../instances/instance.js';
import { likelyAction } from './registry.js';
import type { ActionRefusal } from './use-action-refusal.js';

/** A button in a row of a list. */
export interface RowAction {
  readonly name: 'power' | 'console' | 'menu';
  readonly label: string;
  /** The label with the name of the instance, for screen readers. */
  readonly fullLabel: string;
  readonly icon: IconName;
  /** Why it is unavailable now. */
  readonly reason?: string | undefined;
}

/** The most frequent actions, available in each row, and the menu with all of them. */
export function rowActions(instance: Instance, refusal: ActionRefusal): readonly RowAction[] {
  const { name } = instance;
  const { id, label, icon } = likelyAction(instance);
  return [
    { name: 'power', label, fullLabel: t`${label} ${name}`, icon, reason: refusal(id, instance) },
    isVm(instance)
      ? { name: 'console', label: t`Open console`, fullLabel: t`Open console of ${name}`, icon: 'screen' }
      : { name: 'console', label: t`Open shell`, fullLabel: t`Open shell in ${name}`, icon: 'terminal' },
    { name: 'menu', label: t`More actions`, fullLabel: t`More actions for ${name}`, icon: 'more' },
  ];
}
