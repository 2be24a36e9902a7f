import type { VmView } from '@headgate/api-contracts';
import { Redirect, useLocation, useSearch } from 'wouter';
import { InstancePeek } from '../features/instance/components/instance-peek.js';
import { FleetPage } from '../features/fleet/components/fleet-page.js';
import { asksToCreate } from '../shared/location/former-create-path.js';
import { paths } from '../shared/location/paths.js';

const renderPeek = (vm: VmView) => <InstancePeek vm={vm} />;

/** The list of VMs. */
export function FleetRoute() {
  const [, navigate] = useLocation();
  if (asksToCreate(useSearch())) return <Redirect to={paths.createVm} replace />;
  return <FleetPage onCreate={() => navigate(paths.createVm)} renderPeek={renderPeek} />;
}
