import { useLocation, useSearch } from 'wouter';
import { ContainersPage } from '../features/containers/components/containers-page.js';
import { CreateContainerDialog } from '../features/create-container/components/create-container-dialog.js';
import { createPlace } from '../shared/location/create-place.js';
import { places } from '../shared/location/places.js';
import { useNotify } from '../shared/ui/notifications.js';

/** The containers, with the dialog that adds to them. */
export function ContainersRoute() {
  const [, navigate] = useLocation();
  const { isOpen, open, closed } = createPlace(places.containers, useSearch());
  const notify = useNotify();
  const close = (): void => navigate(closed, { replace: true });

  return (
    <>
      <ContainersPage onCreate={() => navigate(open)} />
      {isOpen && (
        <CreateContainerDialog
          onClose={close}
          onCreated={(_created, { name }) => {
            notify({ variant: 'success', title: `${name} was created` });
            close();
          }}
        />
      )}
    </>
  );
}
