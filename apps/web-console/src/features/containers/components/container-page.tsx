import { t } from '@lingui/core/macro';
import type { ContainerView } from '@headgate/api-contracts';
import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { SplitPower } from '../../../shared/actions/components/split-power.js';
import { useActionKeys } from '../../../shared/actions/use-action-keys.js';
import type { InstanceAddress } from '../../../shared/api/instance-path.js';
import { entryAt, useContainers, useRetryFleet } from '../../../shared/fleet/fleet-provider.js';
import { InstanceHead } from '../../../shared/instances/instance-head.js';
import { paths, type ContainerTab } from '../../../shared/location/paths.js';
import { contextNamed, useCapabilities, type ContextCapabilities } from '../../../shared/queries/use-capabilities.js';
import { perLanguage } from '../../../shared/texts/per-language.js';
import { Button } from '../../../shared/ui/button.js';
import { EmptyState } from '../../../shared/ui/empty-state.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Spinner } from '../../../shared/ui/loading.js';
import { Tabs } from '../../../shared/ui/tabs.js';
import { ContainerFilesTab } from './container-files-tab.js';
import { ContainerLogTab } from './container-log-tab.js';

const allTabs = perLanguage((): Readonly<Record<ContainerTab, string>> => ({
  overview: t`Overview`,
  terminal: t`Terminal`,
  logs: t`Logs`,
  files: t`Files`,
  hardware: t`Hardware`,
  snapshots: t`Snapshots`,
  events: t`Events`,
  manifest: t`Manifest`,
}));
const PANEL_ID = 'container-panel';

export const isContainerTab = (text: string | undefined): text is ContainerTab =>
  text !== undefined && text in allTabs();

interface ContainerPageProps {
  address: InstanceAddress;
  tab: ContainerTab;
  /** The tabs that belong to other features; the route provides them. */
  panels: Readonly<Record<Exclude<ContainerTab, 'logs' | 'files'>, (ct: ContainerView) => ReactNode>>;
}

/** One container: its status and actions stay visible, the rest is in tabs. */
export function ContainerPage({ address, tab, panels }: ContainerPageProps) {
  const { entries, phase, error } = useContainers((state) => state);
  const retry = useRetryFleet();
  const [, navigate] = useLocation();
  const { data: capabilities } = useCapabilities();
  const ct = entryAt(entries, address);
  useActionKeys(ct, () => ct && navigate(paths.container(ct, 'terminal'), { replace: true }));
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
      <Tabs
        label={t`Details of ${ct.name}`}
        tabs={tabsFor(contextNamed(capabilities, ct.context), tab)}
        active={tab}
        panelId={PANEL_ID}
        onSelect={(next) => navigate(paths.container(ct, next), { replace: true })}
      />
      <div id={PANEL_ID} role="tabpanel" aria-label={allTabs()[tab]} className="hg-instance-panel">
        {panelOf(tab, ct, panels)}
      </div>
    </div>
  );
}

function panelOf(tab: ContainerTab, ct: ContainerView, panels: ContainerPageProps['panels']): ReactNode {
  if (tab === 'logs') return <ContainerLogTab key={ct.ref} ct={ct} />;
  if (tab === 'files') return <ContainerFilesTab key={ct.ref} ct={ct} />;
  return panels[tab](ct);
}

/** The abilities of the tabs that some contexts do not have. */
const NEEDED: Readonly<Partial<Record<string, readonly string[]>>> = {
  hardware: ['hardware'],
  snapshots: ['snapshots', 'cloning'],
};

/** Without the tabs for which the context has no ability, unless a link leads there. */
function tabsFor(context: ContextCapabilities | undefined, active: ContainerTab): Readonly<Record<string, string>> {
  const isOffered = (tab: string): boolean =>
    tab === active || (NEEDED[tab]?.some((name) => context?.containerAbilities[name] === true) ?? true);
  return Object.fromEntries(Object.entries(allTabs()).filter(([tab]) => isOffered(tab)));
}
