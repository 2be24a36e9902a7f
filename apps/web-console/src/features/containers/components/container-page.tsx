import { Button, EmptyState, EmptyStateBody, EmptyStateFooter, Spinner } from '@patternfly/react-core';
import type { ContainerView } from '@headgate/api-contracts';
import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import type { InstanceAddress } from '../../../shared/api/instance-path.js';
import { entryAt, useContainers, useRetryFleet } from '../../../shared/fleet/fleet-provider.js';
import { InstanceHead } from '../../../shared/instances/instance-head.js';
import { places } from '../../../shared/location/places.js';
import { CONTAINER_POWER } from '../../../shared/power/power-wording.js';
import { useActionRefusal } from '../../../shared/power/use-action-refusal.js';
import { useConfirmedPower } from '../../../shared/power/use-confirmed-power.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Icon } from '../../../shared/ui/icon.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';

interface ContainerPageProps {
  address: InstanceAddress;
  /** The shell is another feature's; the route brings it. */
  shell: (ct: ContainerView) => ReactNode;
}

/** One container: its power and a shell in it. */
export function ContainerPage({ address, shell }: ContainerPageProps) {
  const { entries, phase, error } = useContainers();
  const retry = useRetryFleet('cts');
  const refusal = useActionRefusal();
  const power = useConfirmedPower();
  const [, navigate] = useLocation();
  const ct = entryAt(entries, address);
  if (!ct && phase === 'lost') return <ErrorAlert title="The container can't be shown" error={error} onRetry={retry} />;
  if (phase === 'loading') return <Spinner aria-label={`Loading ${address.name}`} className="hg-centered" />;
  if (!ct) {
    return (
      <EmptyState titleText={`There is no container ${address.name}`} headingLevel="h1">
        <EmptyStateBody>
          Nothing of this name is in {address.namespace} of {address.context}.
        </EmptyStateBody>
        <EmptyStateFooter>
          <Button onClick={() => navigate(places.containers)}>All containers</Button>
        </EmptyStateFooter>
      </EmptyState>
    );
  }

  return (
    <div className="hg-instance">
      <InstanceHead instance={ct} list={places.containers} many="containers" note={ct.image}>
        <div className="hg-power" role="toolbar" aria-label={`Power of ${ct.name}`}>
          {(['start', 'stop'] as const).map((action) => (
            <ReasonedButton
              key={action}
              size="sm"
              variant="secondary"
              icon={<Icon name={CONTAINER_POWER[action].icon} />}
              reason={refusal(action, ct)}
              {...(power.running?.action === action ? { isLoading: true } : {})}
              onClick={() => power.request({ instance: ct, action })}
            >
              {CONTAINER_POWER[action].label}
            </ReasonedButton>
          ))}
        </div>
      </InstanceHead>
      {shell(ct)}
      {power.dialog}
    </div>
  );
}
