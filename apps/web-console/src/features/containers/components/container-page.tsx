import { Button, EmptyState, EmptyStateBody, EmptyStateFooter, Spinner } from '@patternfly/react-core';
import type { ContainerView } from '@headgate/api-contracts';
import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import type { InstanceAddress } from '../../../shared/api/instance-path.js';
import { places } from '../../../shared/location/places.js';
import { readOnlyReason, useWhoami } from '../../../shared/queries/use-whoami.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Icon } from '../../../shared/ui/icon.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { StatusLabel } from '../../../shared/ui/status-label.js';
import { useContainers } from '../api/use-containers.js';
import { containerRefusal, useContainerAction } from '../use-container-action.js';

interface ContainerPageProps {
  address: InstanceAddress;
  /** The shell is another feature's; the route brings it. */
  shell: (ct: ContainerView, start: ReactNode) => ReactNode;
}

/** One container: its power and a shell in it. */
export function ContainerPage({ address, shell }: ContainerPageProps) {
  const { data, error, refetch } = useContainers();
  const { data: whoami } = useWhoami();
  const { mutate } = useContainerAction();
  const [, navigate] = useLocation();
  const ct = data?.find(
    ({ context, namespace, name }) =>
      context === address.context && namespace === address.namespace && name === address.name,
  );
  if (!ct && error)
    return <ErrorAlert title="The container can't be shown" error={error} onRetry={() => void refetch()} />;
  if (!data) return <Spinner aria-label={`Loading ${address.name}`} className="hg-centered" />;
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

  const power = (['start', 'stop'] as const).map((action) => (
    <ReasonedButton
      key={action}
      size="sm"
      variant="secondary"
      icon={<Icon name={action === 'start' ? 'play' : 'power'} />}
      reason={readOnlyReason(whoami) ?? containerRefusal(ct, action)}
      onClick={() => mutate({ ct, action })}
    >
      {action === 'start' ? 'Start' : 'Stop'}
    </ReasonedButton>
  ));
  return (
    <div className="hg-instance">
      <header className="hg-instance-head">
        <div className="hg-instance-title">
          <Link
            href={places.containers}
            className="hg-icon-button"
            aria-label="Back to all containers"
            title="All containers"
          >
            <Icon name="back" />
          </Link>
          <h1 className="hg-page-title">{ct.name}</h1>
          <StatusLabel status={ct.phase} reason={ct.reason} stale={ct.stale} />
          <span className="hg-note">
            {ct.namespace} in {ct.context}, {ct.image}
          </span>
        </div>
        <div className="hg-power" role="toolbar" aria-label={`Power of ${ct.name}`}>
          {power}
        </div>
      </header>
      {shell(ct, power[0])}
    </div>
  );
}
