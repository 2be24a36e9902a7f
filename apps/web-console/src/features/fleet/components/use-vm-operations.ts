import type { VmView } from '@headgate/api-contracts';
import { useMemo } from 'react';
import type { BulkOperation, DialogOperation, ListOperation } from '../../../shared/list/list-kind.js';
import { tagProblem } from '../../../shared/names/name-rule.js';
import { bulkConfirmation } from '../../../shared/power/action-effects.js';
import { POWER_ACTIONS, type PowerAction } from '../../../shared/power/power-actions.js';
import { VM_POWER } from '../../../shared/power/power-wording.js';
import { useActionRefusal } from '../../../shared/power/use-action-refusal.js';
import { readOnlyReason, useWhoami } from '../../../shared/queries/use-whoami.js';
import { MoveQueueDialog } from './move-queue-dialog.js';

const MOVE: DialogOperation<VmView> = {
  name: 'move',
  label: 'Move to another context',
  icon: 'migrate',
  inMenu: true,
  dialog: MoveQueueDialog,
};

/** What happens to the guests, before it happens. */
const WARNINGS: Readonly<Partial<Record<PowerAction, string>>> = {
  stop: 'The guest operating systems are asked to shut down. Users of the VMs will be disconnected.',
  restart:
    'The guest operating systems are asked to restart. Users of the VMs will be disconnected until they are back.',
  pause: 'The guests are frozen and do not respond until they are resumed. Their memory is kept.',
  'force-stop': 'This is like pulling the plug: data that the guests have not written to disk is lost.',
};

/** The bulk operations for VMs. */
export function useVmOperations(): readonly ListOperation<VmView>[] {
  const { data: whoami } = useWhoami();
  const isReadOnly = readOnlyReason(whoami) !== undefined;
  const refusal = useActionRefusal();
  return useMemo(() => {
    const power = POWER_ACTIONS.map((action): BulkOperation<VmView> => ({
      name: action,
      label: VM_POWER[action].label,
      icon: VM_POWER[action].icon,
      refusal: (vm) => refusal(action, vm),
      request: () => (action === 'force-stop' ? { action: 'stop', force: true } : { action }),
      ...(action === 'pause' || action === 'unpause' ? { inMenu: true } : {}),
      ...bulkConfirmation(action, 'VMs'),
      ...(action in WARNINGS ? { warning: WARNINGS[action] } : {}),
    }));
    const tagging = (on: boolean): BulkOperation<VmView> => ({
      name: on ? 'tag' : 'untag',
      label: on ? 'Add tag' : 'Remove tag',
      icon: on ? 'plus' : 'cross',
      inMenu: true,
      preposition: on ? 'to' : 'from',
      input: { label: 'Tag', problem: tagProblem },
      refusal: (vm) => refusal('tag', vm),
      request: (tag) => ({ action: on ? 'tag' : 'untag', tag }),
    });
    return [
      ...power,
      {
        name: 'migrate',
        label: 'Migrate',
        icon: 'migrate',
        inMenu: true,
        warning: 'The scheduler chooses the target nodes. See Tasks for the progress.',
        refusal: (vm) => refusal('migrate', vm),
        request: () => ({ action: 'migrate' }),
      },
      ...(isReadOnly ? [] : [MOVE]),
      tagging(true),
      tagging(false),
      {
        name: 'delete',
        label: 'Delete',
        icon: 'trash',
        ...bulkConfirmation('delete', 'VMs'),
        warning: 'Their disks and snapshots are deleted too. Running VMs are powered off.',
        refusal: (vm) => (vm.protected ? 'It is protected against deletion.' : refusal('delete', vm)),
        request: () => ({ action: 'delete' }),
      },
    ];
  }, [refusal, isReadOnly]);
}
