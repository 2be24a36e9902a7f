import { t } from '@lingui/core/macro';
import type { VmView } from '@headgate/api-contracts';
import { useMemo, type ReactNode } from 'react';
import { useFleet } from '../../../shared/fleet/fleet-provider.js';
import { InstanceList } from '../../../shared/list/components/instance-list.js';
import type { DialogOperation } from '../../../shared/list/list-kind.js';
import { paths } from '../../../shared/location/paths.js';
import { readOnlyReason, useWhoami } from '../../../shared/queries/use-whoami.js';
import { useCreateRefusal } from '../../../shared/fleet/use-create-refusal.js';
import { useProgresses } from '../../../shared/tasks/use-progress.js';
import { useUsages } from '../../../shared/fleet/use-usage.js';
import { Icon } from '../../../shared/ui/icon.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { useShortcut } from '../../../shared/ui/use-shortcut.js';
import { vmKind } from '../vm-kind.js';
import { FirstRun } from './first-run.js';
import { MoveQueueDialog } from './move-queue-dialog.js';
import { perLanguage } from '../../../shared/texts/per-language.js';

const dialogs = perLanguage((): readonly DialogOperation<VmView>[] => [
  { name: 'move', label: t`Move to another context`, icon: 'migrate', inMenu: true, dialog: MoveQueueDialog },
]);
const NO_DIALOGS: ReturnType<typeof dialogs> = [];
const consoleOf = (vm: VmView): string => paths.vm(vm, 'console');

interface FleetPageProps {
  onCreate: () => void;
  /** The details of a VM belong to another feature; the route provides them. */
  renderPeek: (vm: VmView) => ReactNode;
}

/** All VMs of all contexts. */
export function FleetPage({ onCreate, renderPeek }: FleetPageProps) {
  const fleet = useFleet((state) => state);
  const usages = useUsages('vms', fleet);
  const progresses = useProgresses();
  const kind = useMemo(() => vmKind(usages, progresses), [usages, progresses]);
  const pastKind = useMemo(() => vmKind(new Map(), {}), []);
  const { data: whoami } = useWhoami();
  const createRefusal = useCreateRefusal();
  const create = (): void => {
    if (createRefusal === undefined) onCreate();
  };
  useShortcut('n', create);

  return (
    <InstanceList
      kind={kind}
      pastKind={pastKind}
      fleet={fleet}
      consoleOf={consoleOf}
      dialogs={readOnlyReason(whoami) === undefined ? dialogs() : NO_DIALOGS}
      renderPeek={renderPeek}
      create={
        <ReasonedButton icon={<Icon name="plus" />} onClick={create} reason={createRefusal}>
          {t`Create VM`}
        </ReasonedButton>
      }
      empty={<FirstRun onCreate={create} refusal={createRefusal} />}
    />
  );
}
