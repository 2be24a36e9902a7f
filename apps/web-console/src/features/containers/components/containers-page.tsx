import { t } from '@lingui/core/macro';
import type { ContainerView } from '@headgate/api-contracts';
import { useMemo } from 'react';
import { useContainers } from '../../../shared/fleet/fleet-provider.js';
import { InstanceList } from '../../../shared/list/components/instance-list.js';
import { paths } from '../../../shared/location/paths.js';
import { useCreateRefusal } from '../../../shared/fleet/use-create-refusal.js';
import { useProgresses } from '../../../shared/tasks/use-progress.js';
import { useUsages } from '../../../shared/fleet/use-usage.js';
import { EmptyState } from '../../../shared/ui/empty-state.js';
import { Icon } from '../../../shared/ui/icon.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { useShortcut } from '../../../shared/ui/use-shortcut.js';
import { containerKind } from '../container-kind.js';
import { ContainerPeek } from './container-peek.js';

const consoleOf = (ct: ContainerView): string => paths.container(ct, 'terminal');
const renderPeek = (ct: ContainerView) => <ContainerPeek ct={ct} />;

/** All containers of all contexts. */
export function ContainersPage({ onCreate }: { onCreate: () => void }) {
  const fleet = useContainers((state) => state);
  const usages = useUsages('cts', fleet);
  const progresses = useProgresses();
  const kind = useMemo(() => containerKind(usages, progresses), [usages, progresses]);
  const pastKind = useMemo(() => containerKind(new Map(), {}), []);
  const createRefusal = useCreateRefusal();
  const create = (): void => {
    if (createRefusal === undefined) onCreate();
  };
  useShortcut('n', create);
  const createButton = (
    <ReasonedButton icon={<Icon name="plus" />} onClick={create} reason={createRefusal}>
      {t`Create container`}
    </ReasonedButton>
  );

  return (
    <InstanceList
      kind={kind}
      pastKind={pastKind}
      fleet={fleet}
      consoleOf={consoleOf}
      renderPeek={renderPeek}
      create={createButton}
      empty={
        <EmptyState title={t`No containers yet`} level={2} actions={createButton}>
          {t`A container keeps its data volume while it is stopped.`}
        </EmptyState>
      }
    />
  );
}
