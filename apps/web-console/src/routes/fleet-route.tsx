import { useLocation } from 'wouter';
import { FleetPage } from '../features/fleet/components/fleet-page.js';
import { places } from '../shared/location/places.js';

export function FleetRoute() {
  const [, navigate] = useLocation();
  return <FleetPage onCreate={() => navigate(places.createVm)} />;
}
