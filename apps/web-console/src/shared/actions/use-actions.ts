import { createContext, use } from 'react';
import type { ActionOrder } from './run-action.js';

export interface Actions {
  /**
   * Carries out an action: after its plan if it interrupts or destroys, after a choice if it needs one, and otherwise
   * immediately. The caller offers it only while nothing refuses it.
   */
  readonly run: (order: ActionOrder) => void;
  /** The request that is being sent without a plan. */
  readonly running: ActionOrder | undefined;
  /** Closes a plan that has not begun, because the panel is needed for something else. */
  readonly dismiss: () => void;
}

export const ActionsContext = createContext<Actions | undefined>(undefined);

export function useActions(): Actions {
  const actions = use(ActionsContext);
  if (!actions) throw new Error('useActions is called outside of ActionsProvider.');
  return actions;
}
