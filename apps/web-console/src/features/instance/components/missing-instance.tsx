import { Button, EmptyState, EmptyStateBody, EmptyStateFooter, Spinner } from '@patternfly/react-core';
import { useLocation } from 'wouter';
import type { InstanceAddress } from '../../../shared/api/instance-path.js';
import { useFleet } from '../../../shared/fleet/fleet-provider.js';
import { leftList } from '../../../shared/location/left-list.js';
import { places } from '../../../shared/location/places.js';
import { isRunning, useTasksOf } from '../../../shared/tasks/use-tasks.js';
import { RunningTask } from './running-task.js';

/** An address without an instance: not there yet, not known, or gone. */
export function MissingInstance({ address, removed }: { address: InstanceAddress; removed: boolean }) {
  const [, navigate] = useLocation();
  const phase = useFleet((fleet) => fleet.phase);
  const error = useFleet((fleet) => fleet.error);
  const ref = `vm/${[address.context, address.namespace, address.name].map(encodeURIComponent).join('/')}`;
  const isBeingMade = useTasksOf(ref).some(isRunning);

  if (phase === 'loading') return <Spinner aria-label={`Loading ${address.name}`} className="hg-centered" />;
  return (
    <EmptyState
      titleText={removed ? `${address.name} was deleted` : `There is no instance ${address.name}`}
      headingLevel="h1"
    >
      <EmptyStateBody>
        {phase === 'lost'
          ? error
          : `Nothing of this name is in ${address.namespace} of ${address.context}${isBeingMade ? ' yet' : ''}.`}
        {isBeingMade && !removed && <RunningTask subject={ref} />}
      </EmptyStateBody>
      <EmptyStateFooter>
        <Button onClick={() => navigate(leftList(places.fleet))}>All instances</Button>
      </EmptyStateFooter>
    </EmptyState>
  );
}
