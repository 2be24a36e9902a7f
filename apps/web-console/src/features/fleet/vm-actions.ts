import type { VmView } from '@headgate/api-contracts';
import type { RowAction } from '../../shared/list/list-kind.js';
import type { PowerAction } from '../../shared/power/power-actions.js';
import { VM_POWER } from '../../shared/power/power-wording.js';
import type { ActionRefusal } from '../../shared/power/use-action-refusal.js';

/** The power action that makes sense in the VM's current state. */
export const nextPower = ({ status, running }: VmView): PowerAction =>
  status === 'Paused' ? 'unpause' : running ? 'stop' : 'start';

/** The most frequent actions, available in each row. */
export function vmActions(vm: VmView, refusal: ActionRefusal): readonly RowAction[] {
  const power = nextPower(vm);
  const { label, icon } = VM_POWER[power];
  return [
    { name: 'power', label, fullLabel: `${label} ${vm.name}`, icon, reason: refusal(power, vm) },
    { name: 'console', label: 'Open console', fullLabel: `Open console of ${vm.name}`, icon: 'screen' },
  ];
}
