import { Redirect } from 'wouter';
import { paths } from '../shared/location/paths.js';
import { useWhoami } from '../shared/queries/use-whoami.js';

/** Keeps the address of the login page, which may have a secret for it, until the service answers who the user is. */
export function LoginRoute() {
  const { data: whoami } = useWhoami();
  return whoami && <Redirect to={paths.fleet} replace />;
}
