import type { ContainerView } from '@headgate/api-contracts';
import { useCallback, useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import { useContainers } from '../../../shared/fleet/fleet-provider.js';
import { InstanceList } from '../../../shared/list/components/instance-list.js';
import { paths } from '../../../shared/location/paths.js';
import { useActionRefusal } from '../../../shared/power/use-action-refusal.js';
import { useConfirmedPower } from '../../../shared/power/use-confirmed-power.js';
import { useCreateRefusal } from '../../../shared/fleet/use-create-refusal.js';
import { useProgresses } from '../../../shared/tasks/use-progress.js';
import { useUsages } from '../../../shared/fleet/use-usage.js';
import { stateWords } from '../../../shared/instances/instance-state.js';
import { RemoveDialog } from '../../../shared/instances/remove-dialog.js';
import { EmptyState } from '../../../shared/ui/empty-state.js';
import { Icon } from '../../../shared/ui/icon.js';
import { useNotify } from '../../../shared/ui/notifications.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { useShortcut } from '../../../shared/ui/use-shortcut.js';
import { containerActions, containerOperations, nextPower } from '../container-actions.js';
import { containerKind } from '../container-kind.js';

/** All containers of all contexts. */
export function ContainersPage({ onCreate }: { onCreate: () => void }) {
  const fleet = useContainers();
  const [, navigate] = useLocation();
  const [toDelete, setToDelete] = useState<ContainerView>();
  const notify = useNotify();
  const refusal = useActionRefusal();
  const operations = useMemo(() => containerOperations(refusal), [refusal]);
  const usages = useUsages('cts', fleet);
  const progresses = useProgresses();
  const kind = useMemo(() => containerKind(usages, progresses), [usages, progresses]);
  const power = useConfirmedPower();
  const createRefusal = useCreateRefusal();
  const create = (): void => {
    if (createRefusal === undefined) onCreate();
  };
  useShortcut('c', create);
  const actionsOf = useCallback((ct: ContainerView) => containerActions(ct, refusal), [refusal]);
  const onAction = (ct: ContainerView, action: string): void => {
    if (action === 'delete') setToDelete(ct);
    else if (action === 'shell') navigate(paths.container(ct));
    else power.request({ instance: ct, action: nextPower(ct) });
  };
  const createButton = (
    <ReasonedButton icon={<Icon name="plus" />} onClick={create} reason={createRefusal}>
      Create container
    </ReasonedButton>
  );

  return (
    <>
      <InstanceList
        kind={kind}
        fleet={fleet}
        actionsOf={actionsOf}
        onAction={onAction}
        operations={operations}
        create={createButton}
        empty={
          <EmptyState title="No containers yet" level={2} actions={createButton}>
            A container keeps its data volume while it is stopped.
          </EmptyState>
        }
      />
      {power.dialog}
      {toDelete && (
        <RemoveDialog
          collection="cts"
          address={toDelete}
          caution={toDelete.phase === 'Stopped' ? undefined : `The state of this container: ${stateWords(toDelete)}`}
          onClose={() => setToDelete(undefined)}
          onRemoved={() => {
            notify({ variant: 'success', title: `${toDelete.name} was deleted` });
            setToDelete(undefined);
          }}
        />
      )}
    </>
  );
}
