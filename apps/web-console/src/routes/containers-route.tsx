import { useLocation, useSearch } from 'wouter';
import { ContainersPage } from '../features/containers/components/containers-page.js';
import { CreateContainerDialog } from '../features/containers/components/create-container-dialog.js';
import { createPlace } from '../shared/location/create-place.js';
import { places } from '../shared/location/places.js';
import { useCapabilities } from '../shared/queries/use-capabilities.js';
import { useNotify } from '../shared/ui/notifications.js';

/** The containers, with the dialog that adds to them. */
export function ContainersRoute() {
  const [, navigate] = useLocation();
  const { isOpen, open, closed } = createPlace(places.containers, useSearch());
  const { data: capabilities } = useCapabilities();
  const notify = useNotify();
  const contexts = (capabilities?.contexts ?? []).filter(({ abilities, up }) => up && abilities['containers'] === true);

  return (
    <>
      <ContainersPage onCreate={() => navigate(open)} />
      {isOpen && (
        <CreateContainerDialog
          contexts={contexts.map(({ context }) => context)}
          onClose={() => navigate(closed, { replace: true })}
          onCreated={(name) => {
            notify({ variant: 'success', title: `${name} was created` });
            navigate(closed, { replace: true });
          }}
        />
      )}
    </>
  );
}
