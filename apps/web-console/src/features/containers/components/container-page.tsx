import { t } from '@lingui/core/macro';
import type { ContainerView } from '@headgate/api-contracts';
import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { SplitPower } from '../../../shared/actions/components/split-power.js';
import type { InstanceAddress } from '../../../shared/api/instance-path.js';
import { entryAt, useContainers, useRetryFleet } from '../../../shared/fleet/fleet-provider.js';
import { InstanceHead } from '../../../shared/instances/instance-head.js';
import { paths } from '../../../shared/location/paths.js';
import { Button } from '../../../shared/ui/button.js';
import { EmptyState } from '../../../shared/ui/empty-state.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Spinner } from '../../../shared/ui/loading.js';

interface ContainerPageProps {
  address: InstanceAddress;
  /** The shell belongs to another feature; the route provides it. */
  shell: (ct: ContainerView) => ReactNode;
}

/** One container: its power actions and a shell. */
export function ContainerPage({ address, shell }: ContainerPageProps) {
  const { entries, phase, error } = useContainers((state) => state);
  const retry = useRetryFleet();
  const [, navigate] = useLocation();
  const ct = entryAt(entries, address);
  if (!ct && phase === 'lost')
    return <ErrorAlert title={t`Couldn't load the container`} error={error} onRetry={retry} />;
  if (phase === 'loading') return <Spinner label={t`Loading ${address.name}`} isCentered />;
  if (!ct) {
    return (
      <EmptyState
        title={t`Container ${address.name} not found`}
        level={1}
        actions={<Button onClick={() => navigate(paths.containers)}>{t`Show all containers`}</Button>}
      >
        {t`The namespace ${address.namespace} of ${address.context} has no container with this name.`}
      </EmptyState>
    );
  }

  return (
    <div className="hg-instance">
      <InstanceHead instance={ct} listPath={paths.containers} listTitle={t`Containers`} note={ct.image}>
        <SplitPower instance={ct} />
      </InstanceHead>
      {shell(ct)}
    </div>
  );
}
