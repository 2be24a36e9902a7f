import type { VmView } from '@headgate/api-contracts';
import { Icon } from '../ui/icon.js';
import { ReasonedButton } from '../ui/reasoned-button.js';
import { POWER_WORDING } from './power-actions.js';
import { useActionRefusal } from './use-action-refusal.js';
import { usePowerAction } from './use-power-action.js';

/** Offers to start what does not run, where it is missed. */
export function StartButton({ vm }: { vm: VmView }) {
  const refusal = useActionRefusal();
  const { mutate, isPending } = usePowerAction();
  return (
    <ReasonedButton
      icon={<Icon name={POWER_WORDING.start.icon} />}
      reason={refusal('start', vm)}
      {...(isPending ? { isLoading: true } : {})}
      onClick={() => mutate({ vm, action: 'start' })}
    >
      {`Start ${vm.name}`}
    </ReasonedButton>
  );
}
