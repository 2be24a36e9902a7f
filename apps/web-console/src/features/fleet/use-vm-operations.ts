import type { VmView } from '@headgate/api-contracts';
import { useMemo } from 'react';
import { migrateVm } from '../../shared/instances/migrate-vm.js';
import { removeInstance } from '../../shared/instances/remove-instance.js';
import { setTag } from '../../shared/instances/set-tag.js';
import type { BulkOperation } from '../../shared/list/list-kind.js';
import { tagProblem } from '../../shared/names/name-rule.js';
import { POWER_ACTIONS } from '../../shared/power/power-actions.js';
import { VM_POWER } from '../../shared/power/power-wording.js';
import { runPowerAction } from '../../shared/power/run-power-action.js';
import { useActionRefusal } from '../../shared/power/use-action-refusal.js';
import { useBeginTask } from '../../shared/tasks/use-begin-task.js';

/** Everything that can be done to many VMs at once. */
export function useVmOperations(): readonly BulkOperation<VmView>[] {
  const refusal = useActionRefusal();
  const begin = useBeginTask();
  return useMemo(() => {
    const power = POWER_ACTIONS.map((action): BulkOperation<VmView> => ({
      name: action,
      label: VM_POWER[action].label,
      icon: VM_POWER[action].icon,
      refusal: (vm) => refusal(action, vm),
      run: (vm) => runPowerAction(vm, action),
      ...(action === 'pause' || action === 'unpause' ? { inMenu: true } : {}),
      ...(action === 'force-stop'
        ? { isDanger: true, warning: 'Pulls the plug: the guests have no chance to save anything.' }
        : {}),
    }));
    const tagging = (on: boolean): BulkOperation<VmView> => ({
      name: on ? 'tag' : 'untag',
      label: on ? 'Add tag' : 'Remove tag',
      icon: on ? 'plus' : 'cross',
      inMenu: true,
      asks: { label: 'Tag', problem: tagProblem },
      refusal: (vm) => refusal('tag', vm),
      run: (vm, tag) => setTag(vm, { tag, on }),
    });
    return [
      ...power,
      {
        name: 'migrate',
        label: 'Migrate',
        icon: 'migrate',
        inMenu: true,
        warning: 'The scheduler chooses the nodes. The tasks tell how far each one is.',
        refusal: (vm) => refusal('migrate', vm),
        run: async (vm) => begin((await migrateVm(vm, {})).task),
      },
      tagging(true),
      tagging(false),
      {
        name: 'delete',
        label: 'Delete',
        icon: 'trash',
        isDanger: true,
        typed: true,
        warning: 'Their disks and snapshots go with them. Running guests are switched off.',
        refusal: (vm) => (vm.protected ? 'It is protected against deletion.' : refusal('delete', vm)),
        run: (vm) => removeInstance('vms', vm),
      },
    ];
  }, [refusal, begin]);
}
