import { t } from '@lingui/core/macro';
import { useLocation } from 'wouter';
import { refOfAddress, type InstanceAddress } from '../../../shared/api/instance-path.js';
import { useFleet } from '../../../shared/fleet/fleet-provider.js';
import { lastListPath } from '../../../shared/location/last-list-path.js';
import { paths } from '../../../shared/location/paths.js';
import { isRunning, useTasksOf } from '../../../shared/tasks/use-tasks.js';
import { Button } from '../../../shared/ui/button.js';
import { EmptyState } from '../../../shared/ui/empty-state.js';
import { Spinner } from '../../../shared/ui/loading.js';
import { RunningTask } from './running-task.js';

/** The page of an address without a VM: still being created, deleted, or unknown. */
export function MissingInstance({ address, isDeleted }: { address: InstanceAddress; isDeleted: boolean }) {
  const [, navigate] = useLocation();
  const phase = useFleet((fleet) => fleet.phase);
  const error = useFleet((fleet) => fleet.error);
  const { context, namespace, name } = address;
  const ref = refOfAddress(address);
  const isBeingCreated = useTasksOf(ref).some(isRunning) && !isDeleted;

  if (phase === 'loading') return <Spinner label={t`Loading ${name}`} isCentered />;
  return (
    <EmptyState
      title={isDeleted ? t`${name} was deleted` : isBeingCreated ? t`Creating ${name}` : t`VM ${name} not found`}
      level={1}
      actions={<Button onClick={() => navigate(lastListPath(paths.fleet))}>{t`Show all VMs`}</Button>}
    >
      <p>
        {phase === 'lost'
          ? error
          : isBeingCreated
            ? t`The namespace ${namespace} of ${context} has no VM with this name yet.`
            : t`The namespace ${namespace} of ${context} has no VM with this name.`}
      </p>
      {isBeingCreated && <RunningTask subject={ref} />}
    </EmptyState>
  );
}
