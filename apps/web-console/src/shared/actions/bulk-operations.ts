import { t } from '@lingui/core/macro';
import type { InstanceCollection } from '../api/instance-path.js';
import type { IconName } from '../../icons.js';
import type { Instance } from '../instances/instance.js';
import type { Action, ActionEffect, ActionId, BulkAction, BulkUndo } from './action.js';
import { containerActions } from './container-actions.js';
import { vmActions } from './vm-actions.js';
import type { ActionRefusal } from './use-action-refusal.js';

/** An operation on many instances at the same time. */
export interface BulkOperation<E extends Instance = Instance> extends BulkAction {
  readonly name: ActionId;
  readonly label: string;
  readonly icon: IconName;
  readonly isDanger?: true;
  /** The user has to type the number of instances first, for this reason. */
  readonly confirmByTyping?: string;
  /** Why an entry is skipped; undefined when the operation may be tried. */
  readonly refusal: (entry: E) => string | undefined;
}

/**
 * The operation that undoes another one.
 * @param before the changed instances as they were before it
 * @param text its text
 */
export function undoOf({ inverse, undo }: BulkAction, before: readonly Instance[], text: string): BulkUndo | undefined {
  if (before.length === 0) return undefined;
  return undo ? undo(before) : inverse && { action: inverse, text };
}

/**
 * The operations for several instances of a collection.
 * @param plural such as "VMs"
 */
export const bulkOperations = (
  collection: InstanceCollection,
  plural: string,
  refusal: ActionRefusal,
): readonly BulkOperation[] =>
  (Object.values(collection === 'vms' ? vmActions() : containerActions()) as Action[]).flatMap((action) =>
    action.bulk ? [operationOf(action, action.bulk, plural, refusal)] : [],
  );

function operationOf(
  { id, label, icon, effect }: Action,
  bulk: BulkAction,
  plural: string,
  refusal: ActionRefusal,
): BulkOperation {
  return {
    ...bulk,
    ...confirmationOf(effect, plural),
    name: id,
    label,
    icon,
    refusal: (entry) =>
      id === 'delete' && 'protected' in entry && entry.protected
        ? t`It is protected against deletion.`
        : refusal(id, entry),
  };
}

function confirmationOf(effect: ActionEffect, plural: string): Pick<BulkOperation, 'isDanger' | 'confirmByTyping'> {
  switch (effect) {
    case 'none':
      return {};
    case 'interrupts':
      return { confirmByTyping: t`This interrupts the users of these ${plural}.` };
    case 'destroys':
      return { isDanger: true, confirmByTyping: t`This can't be undone.` };
  }
}
