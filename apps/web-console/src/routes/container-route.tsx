import type { ContainerView } from '@headgate/api-contracts';
import { useParams } from 'wouter';
import { SerialConsole } from '../features/consoles/components/serial-console.js';
import { ContainerPage, isContainerTab } from '../features/containers/components/container-page.js';
import { ContainerOverviewTab } from '../features/instance/components/container-overview-tab.js';
import { ContainerSnapshotsTab } from '../features/instance/components/container-snapshots-tab.js';
import { EventsTab } from '../features/instance/components/events-tab.js';
import { HardwareTab } from '../features/instance/components/hardware-tab.js';
import { ManifestTab } from '../features/instance/components/manifest-tab.js';
import { consoleUrl } from '../shared/api/instance-path.js';
import { entryAt, useContainers } from '../shared/fleet/fleet-provider.js';
import { readOf } from '../shared/instances/instance.js';
import { stateWords } from '../shared/instances/instance-state.js';
import { addressOf } from '../shared/location/paths.js';
import { useIsPopup } from '../shared/location/popup.js';
import { StartButton } from '../shared/actions/components/start-button.js';
import { readOnlyReason, useWhoami } from '../shared/queries/use-whoami.js';

/** A container with its shell, its usage and its log. */
export function ContainerRoute() {
  const params = useParams();
  const address = addressOf(params);
  const entries = useContainers((state) => state.entries);
  const { data: whoami } = useWhoami();
  const isPopup = useIsPopup();
  const tab = isContainerTab(params['tab']) ? params['tab'] : 'overview';
  const shell = (ct: ContainerView) => (
    <SerialConsole
      key={ct.ref}
      shell
      url={consoleUrl('tty', ct, 'ct')}
      guest={{ name: ct.name, state: stateWords(ct), running: ct.phase === 'Running' && !ct.stale }}
      viewOnly={readOnlyReason(whoami) !== undefined}
      start={<StartButton instance={ct} />}
    />
  );
  const shown = entryAt(entries, address);
  if (isPopup && shown && tab === 'terminal') return <div className="hg-instance">{shell(shown)}</div>;
  return (
    <ContainerPage
      address={address}
      tab={tab}
      panels={{
        overview: (ct) => <ContainerOverviewTab key={ct.ref} ct={ct} />,
        terminal: shell,
        hardware: (ct) => <HardwareTab key={ct.ref} vm={ct} />,
        snapshots: (ct) => <ContainerSnapshotsTab key={ct.ref} ct={ct} />,
        events: (ct) => <EventsTab address={readOf(ct)} />,
        manifest: (ct) => <ManifestTab address={readOf(ct)} />,
      }}
    />
  );
}
