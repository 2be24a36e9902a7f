import { useRef } from 'react';
import { Redirect, Route, Switch } from 'wouter';
import { AccessPage } from '../features/access/components/access-page.js';
import { ApprovalsPage } from '../features/approvals/components/approvals-page.js';
import { BackupsPage } from '../features/backups/components/backups-page.js';
import { DoctorPage } from '../features/doctor/components/doctor-page.js';
import { FoldersPage } from '../features/folders/components/folders-page.js';
import { ImagesPage } from '../features/images/components/images-page.js';
import { JournalPage } from '../features/journal/components/journal-page.js';
import { AccountPage } from '../features/login/components/account-page.js';
import { DevicePage } from '../features/login/components/device-page.js';
import { MessagesPage } from '../features/messages/components/messages-page.js';
import { NetworksPage } from '../features/networks/components/networks-page.js';
import { NodesPage } from '../features/nodes/components/nodes-page.js';
import { PluginsPage } from '../features/plugins/components/plugins-page.js';
import { Banners } from '../features/shell/components/banners.js';
import { Masthead } from '../features/shell/components/masthead.js';
import { PhoneBar } from '../features/shell/components/phone-bar.js';
import { GoKeys } from '../features/shell/components/go-keys.js';
import { Sidebar } from '../features/shell/components/sidebar.js';
import { SchedulesPage } from '../features/schedules/components/schedules-page.js';
import { SettingsPage } from '../features/settings/components/settings-page.js';
import { StoragePage } from '../features/storage/components/storage-page.js';
import { IntegrationsPage } from '../features/integrations/components/integrations-page.js';
import { TaskPage } from '../features/tasks/components/task-page.js';
import { ActivityBar } from '../features/tasks/components/activity-bar.js';
import { ActivityPage } from '../features/tasks/components/activity-page.js';
import { TasksButton } from '../features/tasks/components/tasks-button.js';
import { useIsReachable } from '../shared/fleet/use-contexts.js';
import { useIsPopup } from '../shared/location/popup.js';
import { paths } from '../shared/location/paths.js';
import { usePageFocus } from '../shared/location/use-page-focus.js';
import { useBottomBar, useCompact } from '../shared/ui/use-compact.js';
import { SidePanelOutlet } from '../shared/ui/side-panel.js';
import { ContainerRoute } from './container-route.js';
import { CreateContainerRoute } from './create-container-route.js';
import { CreateVmRoute } from './create-vm-route.js';
import { ContainersRoute } from './containers-route.js';
import { FleetRoute } from './fleet-route.js';
import { LoginRoute } from './login-route.js';
import { InstanceRoute } from './instance-route.js';

/** The page of each path. */
export function Pages() {
  const isPopup = useIsPopup();
  const isCompact = useCompact();
  const hasBottomBar = useBottomBar();
  const isReachable = useIsReachable();
  const main = useRef<HTMLElement>(null);
  usePageFocus(main);
  return (
    <div className="hg-shell" data-connection={isReachable ? undefined : 'none'}>
      {!isPopup && <Masthead tasks={<TasksButton />} />}
      {!isPopup && <GoKeys />}
      {!isPopup && <Banners />}
      <div className="hg-body">
        {!isPopup && !isCompact && <Sidebar />}
        <div className="hg-main">
          <main ref={main} id="main" tabIndex={-1}>
            <Switch>
              <Route path={paths.createVm}>
                <CreateVmRoute />
              </Route>
              <Route path={paths.createContainer}>
                <CreateContainerRoute />
              </Route>
              <Route path={paths.fleet}>
                <FleetRoute />
              </Route>
              <Route path="/vms/:context/:namespace/:name/:tab?">
                <InstanceRoute />
              </Route>
              <Route path={paths.containers}>
                <ContainersRoute />
              </Route>
              <Route path="/containers/:context/:namespace/:name/:tab?">
                <ContainerRoute />
              </Route>
              <Route path={paths.task(':id')}>
                <TaskPage />
              </Route>
              <Route path={paths.folders}>
                <FoldersPage />
              </Route>
              <Route path={paths.nodes}>
                <NodesPage />
              </Route>
              <Route path={paths.storage}>
                <StoragePage />
              </Route>
              <Route path={paths.networks}>
                <NetworksPage />
              </Route>
              <Route path={paths.images}>
                <ImagesPage />
              </Route>
              <Route path={paths.plugins}>
                <PluginsPage />
              </Route>
              <Route path={paths.backups}>
                <BackupsPage />
              </Route>
              <Route path={paths.schedules}>
                <SchedulesPage />
              </Route>
              <Route path={paths.approvals}>
                <ApprovalsPage />
              </Route>
              <Route path={paths.doctor}>
                <DoctorPage />
              </Route>
              <Route path={paths.activity}>
                <ActivityPage />
              </Route>
              <Route path={paths.journal}>
                <JournalPage />
              </Route>
              <Route path={paths.messages}>
                <MessagesPage />
              </Route>
              <Route path={paths.access}>
                <AccessPage />
              </Route>
              <Route path={paths.integrations}>
                <IntegrationsPage />
              </Route>
              <Route path={paths.settings}>
                <SettingsPage />
              </Route>
              <Route path={paths.account}>
                <AccountPage />
              </Route>
              <Route path={paths.device}>
                <DevicePage />
              </Route>
              <Route path={paths.login}>
                <LoginRoute />
              </Route>
              <Route>
                <Redirect to={paths.fleet} replace />
              </Route>
            </Switch>
          </main>
          {!isPopup && <SidePanelOutlet />}
        </div>
      </div>
      {!isPopup && !isCompact && <ActivityBar />}
      {!isPopup && hasBottomBar && <PhoneBar tasks={<TasksButton hasText />} />}
    </div>
  );
}
