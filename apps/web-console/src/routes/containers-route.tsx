import { useLocation, useSearch } from 'wouter';
import { ContainersPage } from '../features/containers/components/containers-page.js';
import { CreateContainerDialog } from '../features/create-container/components/create-container-dialog.js';
import { createDialogPaths } from '../shared/location/create-dialog-paths.js';
import { paths } from '../shared/location/paths.js';
import { useNotify } from '../shared/ui/notifications.js';

/** The list of containers and its create dialog. */
export function ContainersRoute() {
  const [, navigate] = useLocation();
  const { isOpen, open, closed } = createDialogPaths(paths.containers, useSearch());
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
