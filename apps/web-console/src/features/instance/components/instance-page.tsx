import { t } from '@lingui/core/macro';
import type { VmView } from '@headgate/api-contracts';
import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { SplitPower } from '../../../shared/actions/components/split-power.js';
import { useActionKeys } from '../../../shared/actions/use-action-keys.js';
import { InstanceHead } from '../../../shared/instances/instance-head.js';
import { paths, type InstanceTab } from '../../../shared/location/paths.js';
import { Tabs } from '../../../shared/ui/tabs.js';
import { EventsTab } from './events-tab.js';
import { GuestTab } from './guest-tab.js';
import { HardwareTab } from './hardware-tab.js';
import { ManifestTab } from './manifest-tab.js';
import { OverviewTab } from './overview-tab.js';
import { SnapshotsTab } from './snapshots-tab.js';
import { WatchersNote } from './watchers-note.js';
import { perLanguage } from '../../../shared/texts/per-language.js';

const tabs = perLanguage((): Readonly<Record<InstanceTab, string>> => ({
  overview: t`Overview`,
  console: t`Console`,
  serial: t`Serial console`,
  guest: t`Guest`,
  hardware: t`Hardware`,
  snapshots: t`Snapshots`,
  events: t`Events`,
  manifest: t`Manifest`,
}));
const PANEL_ID = 'instance-panel';

export const isTab = (text: string | undefined): text is InstanceTab => text !== undefined && text in tabs();

interface InstancePageProps {
  vm: VmView;
  tab: InstanceTab;
  /** The consoles belong to another feature; the route provides them. */
  consoles: Readonly<Record<'console' | 'serial', () => ReactNode>>;
}

/** One VM: its status and actions stay visible, the rest is in tabs. */
export function InstancePage({ vm, tab, consoles }: InstancePageProps) {
  const [, navigate] = useLocation();
  useActionKeys(vm, () => navigate(paths.vm(vm, 'console'), { replace: true }));
  return (
    <div className="hg-instance">
      <InstanceHead instance={vm} listPath={paths.fleet} listTitle={t`Virtual machines`}>
        <SplitPower instance={vm} />
      </InstanceHead>
      <Tabs
        label={t`Details of ${vm.name}`}
        tabs={tabs()}
        counts={{ hardware: vm.pendingCount }}
        active={tab}
        panelId={PANEL_ID}
        onSelect={(next) => navigate(paths.vm(vm, next), { replace: true })}
      />
      <div id={PANEL_ID} role="tabpanel" aria-label={tabs()[tab]} className="hg-instance-panel">
        {tab === 'overview' && <OverviewTab vm={vm} />}
        {(tab === 'console' || tab === 'serial') && <WatchersNote vm={vm} />}
        {tab === 'console' && consoles.console()}
        {tab === 'serial' && consoles.serial()}
        {tab === 'guest' && <GuestTab vm={vm} />}
        {tab === 'hardware' && <HardwareTab vm={vm} />}
        {tab === 'snapshots' && <SnapshotsTab vm={vm} />}
        {tab === 'events' && <EventsTab address={vm} />}
        {tab === 'manifest' && <ManifestTab address={vm} />}
      </div>
    </div>
  );
}
