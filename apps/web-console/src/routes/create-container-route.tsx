import { t } from '@lingui/core/macro';
import { useLocation } from 'wouter';
import { CreateContainerPage } from '../features/create-container/components/create-container-page.js';
import { lastListPath } from '../shared/location/last-list-path.js';
import { paths } from '../shared/location/paths.js';
import { useNotify } from '../shared/ui/notifications.js';

/** The page that creates a container. */
export function CreateContainerRoute() {
  const [, navigate] = useLocation();
  const notify = useNotify();
  const list = lastListPath(paths.containers);
  return (
    <CreateContainerPage
      onClose={() => navigate(list)}
      onCreated={(_created, { name }) => {
        notify({ variant: 'success', title: t`${name} was created` });
        navigate(list, { replace: true });
      }}
    />
  );
}
