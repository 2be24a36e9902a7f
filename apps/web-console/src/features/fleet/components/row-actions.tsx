import type { VmView } from '@headgate/api-contracts';
import { useLocation } from 'wouter';
import { places } from '../../../shared/location/places.js';
import { POWER_WORDING, type PowerAction } from '../../../shared/power/power-actions.js';
import { useActionRefusal } from '../../../shared/power/use-action-refusal.js';
import { usePowerAction } from '../../../shared/power/use-power-action.js';
import { Icon } from '../../../shared/ui/icon.js';

/** What an operator does most, without leaving the list: the power action that makes sense now, and the console. */
export function RowActions({ vm }: { vm: VmView }) {
  const [, navigate] = useLocation();
  const refusal = useActionRefusal();
  const { mutate, isPending } = usePowerAction();
  const action: PowerAction = vm.status === 'Paused' ? 'unpause' : vm.running ? 'stop' : 'start';
  const reason = refusal(action, vm);
  const { label, icon } = POWER_WORDING[action];

  return (
    <span className="hg-row-actions">
      <button
        type="button"
        className="hg-icon-button"
        aria-label={`${label} ${vm.name}`}
        title={reason ?? label}
        aria-disabled={reason !== undefined || isPending}
        onClick={() => reason === undefined && !isPending && mutate({ vm, action })}
      >
        <Icon name={icon} />
      </button>
      <button
        type="button"
        className="hg-icon-button"
        aria-label={`Console of ${vm.name}`}
        title="Console"
        onClick={() => navigate(places.vm(vm, 'console'))}
      >
        <Icon name="screen" />
      </button>
    </span>
  );
}
