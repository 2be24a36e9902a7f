import { CloneDialog } from '../features/instance/components/clone-dialog.js';
import { MoveDialog } from '../features/instance/components/move-dialog.js';
import type { ActionForm, InstanceForm } from '../shared/actions/components/actions-provider.js';
import type { ActionId } from '../shared/actions/action.js';

/** The forms of the actions for which the user has to choose more than a node. */
export const ACTION_FORMS: Readonly<Partial<Record<ActionId, ActionForm>>> = { move: MoveDialog, clone: CloneDialog };

/** Those that containers have, too. */
export const CONTAINER_FORMS: Readonly<Partial<Record<ActionId, InstanceForm>>> = {
  move: MoveDialog,
  clone: CloneDialog,
};
