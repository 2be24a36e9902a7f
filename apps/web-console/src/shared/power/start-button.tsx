import type { Instance } from '../instances/instance.js';
import { Icon } from '../ui/icon.js';
import { ReasonedButton } from '../ui/reasoned-button.js';
import { VM_POWER } from './power-wording.js';
import { useActionRefusal } from './use-action-refusal.js';
import { usePowerAction } from './use-power-action.js';

/** Starts an instance from a place where the user expects it to run. */
export function StartButton({ instance }: { instance: Instance }) {
  const refusal = useActionRefusal();
  const { mutate, isPending } = usePowerAction();
  return (
    <ReasonedButton
      icon={<Icon name={VM_POWER.start.icon} />}
      reason={refusal('start', instance)}
      isLoading={isPending}
      onClick={() => mutate({ instance, action: 'start' })}
    >
      {`Start ${instance.name}`}
    </ReasonedButton>
  );
}
