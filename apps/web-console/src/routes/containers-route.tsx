import { Redirect, useLocation, useSearch } from 'wouter';
import { ContainersPage } from '../features/containers/components/containers-page.js';
import { asksToCreate } from '../shared/location/former-create-path.js';
import { paths } from '../shared/location/paths.js';

/** The list of containers. */
export function ContainersRoute() {
  const [, navigate] = useLocation();
  if (asksToCreate(useSearch())) return <Redirect to={paths.createContainer} replace />;
  return <ContainersPage onCreate={() => navigate(paths.createContainer)} />;
}
