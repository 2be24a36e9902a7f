import { useMutation } from '@tanstack/react-query';
import type { VmView } from '@headgate/api-contracts';
import { messageOf } from '../api/api-error.js';
import { useNotify } from '../ui/notifications.js';
import { POWER_WORDING, type PowerAction } from './power-actions.js';
import { runPowerAction } from './run-power-action.js';

/** Runs one action on one instance and says how it went; the new state itself arrives with the fleet. */
export function usePowerAction() {
  const notify = useNotify();
  return useMutation({
    mutationFn: ({ vm, action }: { vm: VmView; action: PowerAction }) => runPowerAction(vm, action),
    onSuccess: (_answer, { vm, action }) =>
      notify({ variant: 'success', title: `${vm.name} ${POWER_WORDING[action].done}` }),
    onError: (error, { vm, action }) =>
      notify({
        variant: 'danger',
        title: `${POWER_WORDING[action].label} of ${vm.name} was refused`,
        body: messageOf(error),
      }),
  });
}
