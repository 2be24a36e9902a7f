import { useState, type ReactNode } from 'react';
import { ConfirmPower } from './confirm-power.js';
import { powerWording } from './power-wording.js';
import { usePowerAction, type PowerRequest } from './use-power-action.js';

interface ConfirmedPower {
  /** Runs harmless actions immediately and asks for a confirmation before the others. */
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
    request: (request) =>
      powerWording(request.instance, request.action).consequence === undefined ? mutate(request) : setAsked(request),
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
