import { Tab, Tabs, TabTitleText } from '@patternfly/react-core';
import type { VmView } from '@headgate/api-contracts';
import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { places, type InstanceTab } from '../../../shared/location/places.js';
import { InstanceHead } from '../../../shared/instances/instance-head.js';
import { ManifestTab } from './manifest-tab.js';
import { OverviewTab } from './overview-tab.js';
import { PowerBar } from './power-bar.js';

const TABS: Readonly<Record<InstanceTab, string>> = {
  overview: 'Overview',
  console: 'Console',
  serial: 'Serial console',
  manifest: 'Manifest',
};

export const isTab = (text: string | undefined): text is InstanceTab => text !== undefined && text in TABS;

interface InstancePageProps {
  vm: VmView;
  tab: InstanceTab;
  /** The consoles are another feature's; the route brings them. */
  consoles: Readonly<Record<'console' | 'serial', () => ReactNode>>;
  onRemoved: () => void;
}

/** One instance: its state and power always in sight, the rest in tabs. */
export function InstancePage({ vm, tab, consoles, onRemoved }: InstancePageProps) {
  const [, navigate] = useLocation();
  return (
    <div className="hg-instance">
      <InstanceHead instance={vm} list={places.fleet} many="instances">
        <PowerBar vm={vm} onRemoved={onRemoved} />
      </InstanceHead>
      <Tabs
        aria-label={`Pages of ${vm.name}`}
        activeKey={tab}
        onSelect={(_event, key) => navigate(places.vm(vm, key as InstanceTab), { replace: true })}
      >
        {Object.entries(TABS).map(([key, title]) => (
          <Tab key={key} eventKey={key} title={<TabTitleText>{title}</TabTitleText>} tabContentId="instance-panel" />
        ))}
      </Tabs>
      <div id="instance-panel" role="tabpanel" aria-label={TABS[tab]} className="hg-instance-panel">
        {tab === 'overview' && <OverviewTab vm={vm} />}
        {tab === 'console' && consoles.console()}
        {tab === 'serial' && consoles.serial()}
        {tab === 'manifest' && <ManifestTab address={vm} />}
      </div>
    </div>
  );
}
