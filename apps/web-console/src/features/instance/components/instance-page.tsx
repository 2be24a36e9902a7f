import { Tab, Tabs, TabTitleText } from '@patternfly/react-core';
import type { VmView } from '@headgate/api-contracts';
import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { places, type InstanceTab } from '../../../shared/location/places.js';
import { leftList } from '../../../shared/location/left-list.js';
import { usePageTitle } from '../../../shared/ui/use-page-title.js';
import { Icon } from '../../../shared/ui/icon.js';
import { StatusLabel } from '../../../shared/ui/status-label.js';
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
  usePageTitle(`${vm.name} (${vm.status})`);
  return (
    <div className="hg-instance">
      <header className="hg-instance-head">
        <div className="hg-instance-title">
          <Link
            href={leftList(places.fleet)}
            className="hg-icon-button"
            aria-label="Back to all instances"
            title="All instances"
          >
            <Icon name="back" />
          </Link>
          <h1 className="hg-page-title">{vm.name}</h1>
          <StatusLabel status={vm.status} reason={vm.reason} stale={vm.stale} />
          <span className="hg-note">
            {vm.namespace} in {vm.context}
          </span>
        </div>
        <PowerBar vm={vm} onRemoved={onRemoved} />
      </header>
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
