import { EmptyState, EmptyStateBody, EmptyStateFooter } from '@patternfly/react-core';
import type { ContainerView } from '@headgate/api-contracts';
import { useCallback, useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import { useContainers } from '../../../shared/fleet/fleet-provider.js';
import { InstanceList } from '../../../shared/list/components/instance-list.js';
import { places } from '../../../shared/location/places.js';
import { useActionRefusal } from '../../../shared/power/use-action-refusal.js';
import { useConfirmedPower } from '../../../shared/power/use-confirmed-power.js';
import { readOnlyReason, useWhoami } from '../../../shared/queries/use-whoami.js';
import { RemoveDialog } from '../../../shared/instances/remove-dialog.js';
import { Icon } from '../../../shared/ui/icon.js';
import { useNotify } from '../../../shared/ui/notifications.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { useShortcut } from '../../../shared/ui/use-shortcut.js';
import { containerActions, containerOperations, nextPower } from '../container-actions.js';
import { CONTAINER_KIND } from '../container-kind.js';

/** Every container of every context that has them. */
export function ContainersPage({ onCreate }: { onCreate: () => void }) {
  const fleet = useContainers();
  const { data: whoami } = useWhoami();
  const [, navigate] = useLocation();
  const [doomed, setDoomed] = useState<ContainerView>();
  const notify = useNotify();
  const refusal = useActionRefusal();
  const operations = useMemo(() => containerOperations(refusal), [refusal]);
  const power = useConfirmedPower();
  const mayNot = readOnlyReason(whoami);
  const create = (): void => {
    if (mayNot === undefined) onCreate();
  };
  useShortcut('c', create);
  const actionsOf = useCallback((ct: ContainerView) => containerActions(ct, refusal), [refusal]);
  const onAction = (ct: ContainerView, action: string): void => {
    if (action === 'delete') setDoomed(ct);
    else if (action === 'shell') navigate(places.container(ct));
    else power.request({ instance: ct, action: nextPower(ct) });
  };
  const createButton = (
    <ReasonedButton icon={<Icon name="plus" />} onClick={create} reason={mayNot}>
      Create container
    </ReasonedButton>
  );

  return (
    <>
      <InstanceList
        kind={CONTAINER_KIND}
        fleet={fleet}
        actionsOf={actionsOf}
        onAction={onAction}
        operations={operations}
        create={createButton}
        empty={
          <EmptyState titleText="No containers yet" headingLevel="h2">
            <EmptyStateBody>A container keeps its data volume while it is stopped.</EmptyStateBody>
            <EmptyStateFooter>{createButton}</EmptyStateFooter>
          </EmptyState>
        }
      />
      {power.dialog}
      {doomed && (
        <RemoveDialog
          collection="cts"
          address={doomed}
          caution={doomed.phase === 'Stopped' ? undefined : `It is ${doomed.phase}.`}
          onClose={() => setDoomed(undefined)}
          onRemoved={() => {
            notify({ variant: 'success', title: `${doomed.name} was deleted` });
            setDoomed(undefined);
          }}
        />
      )}
    </>
  );
}
