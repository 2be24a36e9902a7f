import type { VmView } from '@headgate/api-contracts';
import { useLocation, useSearch } from 'wouter';
import { CreateVmDialog } from '../features/create-vm/components/create-vm-dialog.js';
import type { VmForm } from '../features/create-vm/vm-form.js';
import { InstancePeek } from '../features/instance/components/instance-peek.js';
import { FleetPage } from '../features/fleet/components/fleet-page.js';
import type { Created } from '../shared/creation/create-instance.js';
import { createDialogPaths } from '../shared/location/create-dialog-paths.js';
import { pathOfRef, paths } from '../shared/location/paths.js';
import { useTrackTask } from '../shared/tasks/track-task.js';
import { useNotify } from '../shared/ui/notifications.js';

const renderPeek = (vm: VmView) => <InstancePeek vm={vm} />;

/** The list of VMs and its create dialog. */
export function FleetRoute() {
  const [, navigate] = useLocation();
  const { isOpen, open, closed } = createDialogPaths(paths.fleet, useSearch());
  const trackTask = useTrackTask();
  const notify = useNotify();

  const onCreated = (created: Created, { name }: VmForm): void => {
    const ref = 'ref' in created ? created.ref : undefined;
    if (created.task) trackTask(created.task);
    notify({
      variant: 'success',
      title: created.task ? `Creating ${name}` : `${name} was created`,
      body: created.task ? 'See Tasks for the progress.' : undefined,
    });
    navigate(ref ? pathOfRef(ref) : closed);
  };

  return (
    <>
      <FleetPage onCreate={() => navigate(open)} renderPeek={renderPeek} />
      {isOpen && <CreateVmDialog onClose={() => navigate(closed, { replace: true })} onCreated={onCreated} />}
    </>
  );
}
