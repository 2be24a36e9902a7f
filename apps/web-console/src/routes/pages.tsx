import { Redirect, Route, Switch } from 'wouter';
import { Banners } from '../features/shell/components/banners.js';
import { Masthead } from '../features/shell/components/masthead.js';
import { places } from '../shared/location/places.js';
import { FleetRoute } from './fleet-route.js';

/** Which page stands at which address. */
export function Pages() {
  return (
    <div className="hg-shell">
      <Masthead tasks={null} />
      <Banners />
      <main id="main" tabIndex={-1}>
        <Switch>
          <Route path={places.fleet}>
            <FleetRoute />
          </Route>
          <Route>
            <Redirect to={places.fleet} replace />
          </Route>
        </Switch>
      </main>
    </div>
  );
}
