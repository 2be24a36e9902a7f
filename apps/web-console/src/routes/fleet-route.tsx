import { useLocation, useSearch } from 'wouter';
import { CreateVmDialog } from '../features/create-vm/components/create-vm-dialog.js';
import type { VmForm } from '../features/create-vm/vm-form.js';
import { FleetPage } from '../features/fleet/components/fleet-page.js';
import type { Created } from '../shared/creation/create-instance.js';
import { createPlace } from '../shared/location/create-place.js';
import { placeOfRef, places } from '../shared/location/places.js';
import { useBeginTask } from '../shared/tasks/use-begin-task.js';
import { useNotify } from '../shared/ui/notifications.js';

/** The fleet, with the dialog that adds to it. */
export function FleetRoute() {
  const [, navigate] = useLocation();
  const { isOpen, open, closed } = createPlace(places.fleet, useSearch());
  const begin = useBeginTask();
  const notify = useNotify();

  const onCreated = (created: Created, { name }: VmForm): void => {
    const ref = 'ref' in created ? created.ref : undefined;
    if (created.task) begin(created.task);
    notify({
      variant: 'success',
      title: created.task ? `${name} is being made` : `${name} was created`,
      body: created.task ? 'The tasks tell how far it is.' : undefined,
    });
    navigate(ref ? placeOfRef(ref) : closed);
  };

  return (
    <>
      <FleetPage onCreate={() => navigate(open)} />
      {isOpen && <CreateVmDialog onClose={() => navigate(closed, { replace: true })} onCreated={onCreated} />}
    </>
  );
}
