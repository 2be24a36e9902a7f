import type { InstanceAction } from './power-actions.js';

/** What an action does to the users of an instance. */
export type ActionEffect = 'none' | 'interrupts' | 'destroys';

/** The one place that decides which actions need a confirmation, for one instance and for many. */
export const ACTION_EFFECTS: Readonly<Record<InstanceAction, ActionEffect>> = {
  start: 'none',
  unpause: 'none',
  // The guest keeps running. The user still chooses the node in a dialog.
  migrate: 'none',
  tag: 'none',
  stop: 'interrupts',
  restart: 'interrupts',
  pause: 'interrupts',
  // Data that the guest has not written to disk is lost.
  'force-stop': 'destroys',
  delete: 'destroys',
};

export const needsConfirmation = (action: InstanceAction): boolean => ACTION_EFFECTS[action] !== 'none';

/** How a list asks before an action on many instances. Fits into a bulk operation. */
export interface BulkConfirmation {
  readonly isDanger?: true;
  readonly confirmByTyping?: string;
}

/** @param plural such as "VMs" */
export function bulkConfirmation(action: InstanceAction, plural: string): BulkConfirmation {
  switch (ACTION_EFFECTS[action]) {
    case 'none':
      return {};
    case 'interrupts':
      return { confirmByTyping: `This interrupts the users of these ${plural}.` };
    case 'destroys':
      return { isDanger: true, confirmByTyping: "This can't be undone." };
  }
}
