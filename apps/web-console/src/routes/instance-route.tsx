import { useState } from 'react';
import { Redirect, useParams, useSearch } from 'wouter';
import { SerialConsole } from '../features/consoles/components/serial-console.js';
import { VncConsole } from '../features/consoles/components/vnc-console.js';
import { InstancePage, isTab } from '../features/instance/components/instance-page.js';
import { MissingInstance } from '../features/instance/components/missing-instance.js';
import { consoleUrl } from '../shared/api/instance-path.js';
import { stateWords } from '../shared/instances/instance-state.js';
import { useVm } from '../shared/fleet/fleet-provider.js';
import { useIsPopup } from '../shared/location/popup.js';
import { addressOf, paths } from '../shared/location/paths.js';
import { StartButton } from '../shared/actions/components/start-button.js';
import { readOnlyReason, useWhoami } from '../shared/queries/use-whoami.js';

/** A VM and its consoles. */
export function InstanceRoute() {
  const params = useParams();
  const address = addressOf(params);
  const vm = useVm(address);
  const { data: whoami } = useWhoami();
  const isPopup = useIsPopup();
  const search = useSearch();
  // Distinguishes a VM that was deleted from one that never existed.
  const [shown, setShown] = useState(vm);
  if (vm && vm !== shown) setShown(vm);
  if (!vm) return <MissingInstance address={address} isDeleted={shown?.name === address.name} />;
  // The charts were a tab of their own.
  if (params['tab'] === 'metrics') return <Redirect to={`${paths.vm(vm)}${search && `?${search}`}`} replace />;

  const tab = isTab(params['tab']) ? params['tab'] : 'overview';
  const common = {
    guest: { name: vm.name, state: stateWords(vm), running: vm.running && !vm.stale },
    viewOnly: readOnlyReason(whoami) !== undefined,
    start: <StartButton instance={vm} />,
  };
  const consoles = {
    console: () => <VncConsole key={vm.ref} url={consoleUrl('vnc', vm)} {...common} />,
    serial: () => <SerialConsole key={vm.ref} url={consoleUrl('tty', vm)} {...common} />,
  };
  if (isPopup && (tab === 'console' || tab === 'serial')) return <div className="hg-instance">{consoles[tab]()}</div>;
  return <InstancePage vm={vm} tab={tab} consoles={consoles} />;
}
