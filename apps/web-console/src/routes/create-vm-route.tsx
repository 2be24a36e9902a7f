import { t } from '@lingui/core/macro';
import { useLocation } from 'wouter';
import { CreateVmPage } from '../features/create-vm/components/create-vm-page.js';
import type { VmForm } from '../features/create-vm/vm-form.js';
import type { Created } from '../shared/creation/create-instance.js';
import { lastListPath } from '../shared/location/last-list-path.js';
import { pathOfRef, paths } from '../shared/location/paths.js';
import { useTrackTask } from '../shared/tasks/track-task.js';
import { useNotify } from '../shared/ui/notifications.js';

/** The page that creates a VM. */
export function CreateVmRoute() {
  const [, navigate] = useLocation();
  const trackTask = useTrackTask();
  const notify = useNotify();
  const list = lastListPath(paths.fleet);

  const onCreated = (created: Created, { name }: VmForm): void => {
    const ref = 'ref' in created ? created.ref : undefined;
    if (created.task) trackTask(created.task);
    const warnings = 'warnings' in created ? created.warnings : undefined;
    notify({
      variant: warnings ? 'warning' : 'success',
      title: created.task ? t`Creating ${name}` : t`${name} was created`,
      body: warnings?.join(' ') ?? (created.task ? t`See Tasks for the progress.` : undefined),
    });
    navigate(ref ? pathOfRef(ref) : list, { replace: true });
  };
  return <CreateVmPage onClose={() => navigate(list)} onCreated={onCreated} />;
}
