import { useState, type ReactNode } from 'react';
import { ConfirmPower } from './confirm-power.js';
import { powerWording } from './power-wording.js';
import { usePowerAction, type PowerRequest } from './use-power-action.js';

interface ConfirmedPower {
  /** Runs what disturbs nobody at once, and asks before the rest. */
  readonly request: (request: PowerRequest) => void;
  /** What is under way. */
  readonly running: PowerRequest | undefined;
  /** The question; to be drawn somewhere. */
  readonly dialog: ReactNode;
}

export function useConfirmedPower(): ConfirmedPower {
  const { mutate, isPending, variables } = usePowerAction();
  const [asked, setAsked] = useState<PowerRequest>();
  const close = (): void => setAsked(undefined);
  return {
    request: (request) =>
      powerWording(request.instance, request.action).cost === undefined ? mutate(request) : setAsked(request),
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
