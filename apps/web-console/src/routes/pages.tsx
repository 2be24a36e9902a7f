import { Redirect, Route, Switch } from 'wouter';
import { DoctorPage } from '../features/doctor/components/doctor-page.js';
import { NodesPage } from '../features/nodes/components/nodes-page.js';
import { Banners } from '../features/shell/components/banners.js';
import { Masthead } from '../features/shell/components/masthead.js';
import { TasksButton } from '../features/tasks/components/tasks-button.js';
import { useIsAlone } from '../shared/location/alone.js';
import { places } from '../shared/location/places.js';
import { ContainerRoute } from './container-route.js';
import { ContainersRoute } from './containers-route.js';
import { FleetRoute } from './fleet-route.js';
import { InstanceRoute } from './instance-route.js';

/** Which page stands at which address. */
export function Pages() {
  const isAlone = useIsAlone();
  return (
    <div className="hg-shell">
      {!isAlone && <Masthead tasks={<TasksButton />} />}
      {!isAlone && <Banners />}
      <main id="main" tabIndex={-1}>
        <Switch>
          <Route path={places.fleet}>
            <FleetRoute />
          </Route>
          <Route path="/vms/:context/:namespace/:name/:tab?">
            <InstanceRoute />
          </Route>
          <Route path={places.containers}>
            <ContainersRoute />
          </Route>
          <Route path="/containers/:context/:namespace/:name">
            <ContainerRoute />
          </Route>
          <Route path={places.nodes}>
            <NodesPage />
          </Route>
          <Route path={places.doctor}>
            <DoctorPage />
          </Route>
          <Route>
            <Redirect to={places.fleet} replace />
          </Route>
        </Switch>
      </main>
    </div>
  );
}
