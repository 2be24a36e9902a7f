import type { VmView } from '@headgate/api-contracts';
import { useState } from 'react';
import type { PowerAction } from '../../../shared/power/power-actions.js';
import { VM_POWER } from '../../../shared/power/power-wording.js';
import { useActionRefusal } from '../../../shared/power/use-action-refusal.js';
import { useConfirmedPower } from '../../../shared/power/use-confirmed-power.js';
import { RemoveDialog } from '../../../shared/instances/remove-dialog.js';
import { Icon } from '../../../shared/ui/icon.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { MigrateDialog } from './migrate-dialog.js';

/** The actions for a whole VM. Unavailable actions explain why. */
export function PowerBar({ vm, onRemoved }: { vm: VmView; onRemoved: () => void }) {
  const refusal = useActionRefusal();
  const { request, running, dialog: confirmation } = useConfirmedPower();
  const [dialog, setDialog] = useState<'migrate' | 'delete'>();
  const close = (): void => setDialog(undefined);
  const power = (action: PowerAction) => (
    <ReasonedButton
      key={action}
      isSmall
      variant={action === 'start' && refusal(action, vm) === undefined ? 'primary' : 'secondary'}
      className={action === 'force-stop' ? 'hg-button--dangerous' : undefined}
      icon={<Icon name={VM_POWER[action].icon} />}
      reason={refusal(action, vm)}
      isLoading={running?.action === action}
      onClick={() => request({ instance: vm, action })}
    >
      {VM_POWER[action].label}
    </ReasonedButton>
  );

  return (
    <div className="hg-power" role="toolbar" aria-label={`Actions for ${vm.name}`}>
      {power('start')}
      {power('stop')}
      {power('restart')}
      {power(vm.status === 'Paused' ? 'unpause' : 'pause')}
      <ReasonedButton
        isSmall
        variant="secondary"
        icon={<Icon name="migrate" />}
        reason={refusal('migrate', vm)}
        onClick={() => setDialog('migrate')}
      >
        Migrate
      </ReasonedButton>
      {power('force-stop')}
      <ReasonedButton
        isSmall
        variant="secondary"
        className="hg-button--dangerous"
        icon={<Icon name="trash" />}
        reason={refusal('delete', vm)}
        onClick={() => setDialog('delete')}
      >
        Delete
      </ReasonedButton>
      {confirmation}
      {dialog === 'migrate' && <MigrateDialog vm={vm} onClose={close} />}
      {dialog === 'delete' && (
        <RemoveDialog collection="vms" address={vm} caution={cautionOf(vm)} onClose={close} onRemoved={onRemoved} />
      )}
    </div>
  );
}

const cautionOf = (vm: VmView): string | undefined =>
  vm.protected
    ? 'This VM is protected against deletion.'
    : vm.running
      ? 'Users of this VM will be disconnected immediately.'
      : undefined;
