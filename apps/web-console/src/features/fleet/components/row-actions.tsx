import type { VmView } from '@headgate/api-contracts';
import { POWER_WORDING, type PowerAction } from '../../../shared/power/power-actions.js';
import { Icon } from '../../../shared/ui/icon.js';

/** The one power action that makes sense for a row as it is. */
export const rowAction = ({ status, running }: VmView): PowerAction =>
  status === 'Paused' ? 'unpause' : running ? 'stop' : 'start';

/** What an operator does most, without leaving the list. The table hears the clicks: `data-do` says what was meant. */
export function RowActions({ vm, refusal }: { vm: VmView; refusal: string | undefined }) {
  const { label, icon } = POWER_WORDING[rowAction(vm)];
  return (
    <span className="hg-row-actions">
      <button
        type="button"
        className="hg-icon-button"
        aria-label={`${label} ${vm.name}`}
        title={refusal ?? label}
        aria-disabled={refusal !== undefined}
        data-do="power"
        data-ref={vm.ref}
      >
        <Icon name={icon} />
      </button>
      <button
        type="button"
        className="hg-icon-button"
        aria-label={`Console of ${vm.name}`}
        title="Console"
        data-do="console"
        data-ref={vm.ref}
      >
        <Icon name="screen" />
      </button>
    </span>
  );
}
