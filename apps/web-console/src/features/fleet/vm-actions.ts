import type { VmView } from '@headgate/api-contracts';
import type { RowAction } from '../../shared/list/list-kind.js';
import type { PowerAction } from '../../shared/power/power-actions.js';
import { VM_POWER } from '../../shared/power/power-wording.js';
import type { ActionRefusal } from '../../shared/power/use-action-refusal.js';

/** The one power action that makes sense for a VM as it is. */
export const nextPower = ({ status, running }: VmView): PowerAction =>
  status === 'Paused' ? 'unpause' : running ? 'stop' : 'start';

/** What an operator does most, without leaving the list. */
export function vmActions(vm: VmView, refusal: ActionRefusal): readonly RowAction[] {
  const power = nextPower(vm);
  const { label, icon } = VM_POWER[power];
  return [
    { name: 'power', label, icon, reason: refusal(power, vm) },
    { name: 'console', label: 'Console of', icon: 'screen' },
  ];
}
