import { useMutation } from '@tanstack/react-query';
import { messageOf } from '../api/api-error.js';
import type { Instance } from '../instances/instance.js';
import { useNotify } from '../ui/notifications.js';
import type { PowerAction } from './power-actions.js';
import { powerWording } from './power-wording.js';
import { runPowerAction } from './run-power-action.js';

/** The action that undoes another one. */
const OPPOSITE: Readonly<Partial<Record<PowerAction, PowerAction>>> = { pause: 'unpause', unpause: 'pause' };

/** Runs one action on one instance and reports the result in a notice. The new state arrives with the fleet. */
export function usePowerAction() {
  const notify = useNotify();
  const action = useMutation({
    mutationFn: ({ instance, action: wanted }: PowerRequest) => runPowerAction(instance, wanted),
    onSuccess: (_answer, { instance, action: done }) => {
      const opposite = OPPOSITE[done];
      notify({
        variant: 'success',
        title: `${instance.name} ${powerWording(instance, done).done}`,
        ...(opposite ? { action: { label: 'Undo', run: () => action.mutate({ instance, action: opposite }) } } : {}),
      });
    },
    onError: (error, { instance, action: refused }) =>
      notify({
        variant: 'danger',
        title: `${powerWording(instance, refused).label} failed: ${instance.name}`,
        body: messageOf(error),
      }),
  });
  return action;
}

export interface PowerRequest {
  readonly instance: Instance;
  readonly action: PowerAction;
}
