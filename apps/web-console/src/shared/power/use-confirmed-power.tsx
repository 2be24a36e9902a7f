import { useState, type ReactNode } from 'react';
import { needsConfirmation } from './action-effects.js';
import { ConfirmPower } from './confirm-power.js';
import { usePowerAction, type PowerRequest } from './use-power-action.js';

interface ConfirmedPower {
  /** Asks for a confirmation before an action that interrupts or destroys; runs the others immediately. */
  readonly request: (request: PowerRequest) => void;
  /** The request that is being sent. */
  readonly running: PowerRequest | undefined;
  /** The confirmation; the caller renders it. */
  readonly dialog: ReactNode;
}

export function useConfirmedPower(): ConfirmedPower {
  const { mutate, isPending, variables } = usePowerAction();
  const [asked, setAsked] = useState<PowerRequest>();
  const close = (): void => setAsked(undefined);
  return {
    request: (request) => (needsConfirmation(request.action) ? setAsked(request) : mutate(request)),
    running: isPending ? variables : undefined,
    dialog: asked && (
      <ConfirmPower
        {...asked}
        onClose={close}
        onConfirm={() => {
          mutate(asked);
          close();
        }}
      />
    ),
  };
}
