import { t } from '@lingui/core/macro';
import { useQueryClient } from '@tanstack/react-query';
import type { PlanView } from '@headgate/api-contracts';
import { curlOf, sendRequest } from '../../../shared/actions/api-request.js';
import { PlanPanel } from '../../../shared/plans/plan-panel.js';
import { STREAMED_KEYS } from '../../../shared/queries/stream-queries.js';
import { useNotify } from '../../../shared/ui/notifications.js';
import { plannedChange, type FolderChange } from '../folder-change.js';

interface FolderPlanProps {
  change: FolderChange;
  /** The path after the change. */
  to: string;
  onClose: () => void;
  onDone: () => void;
}

/** The plan of a change of the tree, as the service promises it. */
export function FolderPlan({ change, to, onClose, onDone }: FolderPlanProps) {
  const { request, title, label, done, failure } = plannedChange(change, to);
  const notify = useNotify();
  const queries = useQueryClient();
  const isRemoved = change.type === 'remove';
  return (
    <PlanPanel
      title={title}
      label={label}
      failure={failure}
      isDanger={isRemoved}
      consequence={isRemoved ? t`Its machines keep running, but are no longer in a folder.` : undefined}
      preview={(signal) => sendRequest<PlanView>(request, { dryRun: true, signal })}
      run={() => sendRequest<unknown>(request)}
      choice={to}
      curl={curlOf(request, location.origin)}
      onClose={onClose}
      onDone={() => {
        void queries.invalidateQueries({ queryKey: STREAMED_KEYS.folders });
        notify({ variant: 'success', title: done });
        onDone();
      }}
    />
  );
}
