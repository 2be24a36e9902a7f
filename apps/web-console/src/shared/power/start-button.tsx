import type { Instance } from '../instances/instance.js';
import { Icon } from '../ui/icon.js';
import { ReasonedButton } from '../ui/reasoned-button.js';
import { VM_POWER } from './power-wording.js';
import { useActionRefusal } from './use-action-refusal.js';
import { usePowerAction } from './use-power-action.js';

/** Offers to start what does not run, where it is missed. */
export function StartButton({ instance }: { instance: Instance }) {
  const refusal = useActionRefusal();
  const { mutate, isPending } = usePowerAction();
  return (
    <ReasonedButton
      icon={<Icon name={VM_POWER.start.icon} />}
      reason={refusal('start', instance)}
      {...(isPending ? { isLoading: true } : {})}
      onClick={() => mutate({ instance, action: 'start' })}
    >
      {`Start ${instance.name}`}
    </ReasonedButton>
  );
}
