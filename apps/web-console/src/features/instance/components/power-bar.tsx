import type { VmView } from '@headgate/api-contracts';
import { useState } from 'react';
import { POWER_WORDING, type PowerAction } from '../../../shared/power/power-actions.js';
import { useActionRefusal } from '../../../shared/power/use-action-refusal.js';
import { usePowerAction } from '../../../shared/power/use-power-action.js';
import { RemoveDialog } from '../../../shared/removal/remove-dialog.js';
import { Icon } from '../../../shared/ui/icon.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { ForceStopDialog } from './force-stop-dialog.js';
import { MigrateDialog } from './migrate-dialog.js';

type Dialog = 'force-stop' | 'migrate' | 'delete';

/** Everything that can be done to an instance as a whole. What can't be done now says why. */
export function PowerBar({ vm, onRemoved }: { vm: VmView; onRemoved: () => void }) {
  const refusal = useActionRefusal();
  const { mutate, isPending, variables } = usePowerAction();
  const [dialog, setDialog] = useState<Dialog>();
  const close = (): void => setDialog(undefined);
  const actions: readonly PowerAction[] = ['start', 'stop', 'restart', vm.status === 'Paused' ? 'unpause' : 'pause'];
  const caution = vm.protected
    ? 'It is protected.'
    : vm.running
      ? `It is ${vm.status}: whoever uses it loses it at once.`
      : undefined;

  return (
    <div className="hg-power" role="toolbar" aria-label={`Power of ${vm.name}`}>
      {actions.map((action) => (
        <ReasonedButton
          key={action}
          size="sm"
          variant={action === 'start' && refusal(action, vm) === undefined ? 'primary' : 'secondary'}
          icon={<Icon name={POWER_WORDING[action].icon} />}
          reason={refusal(action, vm)}
          {...(isPending && variables.action === action ? { isLoading: true } : {})}
          onClick={() => mutate({ vm, action })}
        >
          {POWER_WORDING[action].label}
        </ReasonedButton>
      ))}
      <ReasonedButton
        size="sm"
        variant="secondary"
        icon={<Icon name="migrate" />}
        reason={refusal('migrate', vm)}
        onClick={() => setDialog('migrate')}
      >
        Migrate
      </ReasonedButton>
      <ReasonedButton
        size="sm"
        variant="secondary"
        isDanger
        icon={<Icon name="plug" />}
        reason={refusal('force-stop', vm)}
        onClick={() => setDialog('force-stop')}
      >
        Force stop
      </ReasonedButton>
      <ReasonedButton
        size="sm"
        variant="secondary"
        isDanger
        icon={<Icon name="trash" />}
        reason={refusal('delete', vm)}
        onClick={() => setDialog('delete')}
      >
        Delete
      </ReasonedButton>
      {dialog === 'force-stop' && (
        <ForceStopDialog
          vm={vm}
          onClose={close}
          onConfirm={() => {
            mutate({ vm, action: 'force-stop' });
            close();
          }}
        />
      )}
      {dialog === 'migrate' && <MigrateDialog vm={vm} onClose={close} />}
      {dialog === 'delete' && (
        <RemoveDialog collection="vms" address={vm} caution={caution} onClose={close} onRemoved={onRemoved} />
      )}
    </div>
  );
}
