import type { VmView } from '@headgate/api-contracts';
import { useCallback, useMemo } from 'react';
import { useLocation } from 'wouter';
import { useFleet } from '../../../shared/fleet/fleet-provider.js';
import { InstanceList } from '../../../shared/list/components/instance-list.js';
import { paths } from '../../../shared/location/paths.js';
import { useActionRefusal } from '../../../shared/power/use-action-refusal.js';
import { useConfirmedPower } from '../../../shared/power/use-confirmed-power.js';
import { useCreateRefusal } from '../../../shared/fleet/use-create-refusal.js';
import { useProgresses } from '../../../shared/tasks/use-progress.js';
import { useUsages } from '../../../shared/fleet/use-usage.js';
import { Icon } from '../../../shared/ui/icon.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { useShortcut } from '../../../shared/ui/use-shortcut.js';
import { useVmOperations } from './use-vm-operations.js';
import { nextPower, vmActions } from '../vm-actions.js';
import { vmKind } from '../vm-kind.js';
import { FirstRun } from './first-run.js';

/** All VMs of all contexts. */
export function FleetPage({ onCreate }: { onCreate: () => void }) {
  const fleet = useFleet((state) => state);
  const [, navigate] = useLocation();
  const refusal = useActionRefusal();
  const operations = useVmOperations();
  const usages = useUsages('vms', fleet);
  const progresses = useProgresses();
  const kind = useMemo(() => vmKind(usages, progresses), [usages, progresses]);
  const power = useConfirmedPower();
  const createRefusal = useCreateRefusal();
  const create = (): void => {
    if (createRefusal === undefined) onCreate();
  };
  useShortcut('c', create);
  const actionsOf = useCallback((vm: VmView) => vmActions(vm, refusal), [refusal]);

  return (
    <>
      <InstanceList
        kind={kind}
        fleet={fleet}
        actionsOf={actionsOf}
        onAction={(vm, action) =>
          action === 'console'
            ? navigate(paths.vm(vm, 'console'))
            : power.request({ instance: vm, action: nextPower(vm) })
        }
        operations={operations}
        create={
          <ReasonedButton icon={<Icon name="plus" />} onClick={create} reason={createRefusal}>
            Create VM
          </ReasonedButton>
        }
        empty={<FirstRun onCreate={create} refusal={createRefusal} />}
      />
      {power.dialog}
    </>
  );
}
