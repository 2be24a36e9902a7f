import { t } from '@lingui/core/macro';
import { useQueryClient } from '@tanstack/react-query';
import { PAGE_FOCUS } from '../../../shared/location/use-page-focus.js';
import { APPROVALS_KEY, useApprovals } from '../../../shared/queries/use-approvals.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Skeleton } from '../../../shared/ui/loading.js';
import { usePageTitle } from '../../../shared/ui/use-page-title.js';
import { ApprovalSection } from './approval-section.js';

/** The commits of agents that wait until the user approves them. */
export function ApprovalsPage() {
  usePageTitle(t`Approvals`);
  const { data: approvals, error, refetch } = useApprovals();
  const queries = useQueryClient();
  const reload = (): void => void queries.invalidateQueries({ queryKey: APPROVALS_KEY, exact: true });
  return (
    <div className="hg-page">
      <h1 className="hg-page-title" {...PAGE_FOCUS}>
        {t`Approvals`}
      </h1>
      <p className="hg-note hg-gap-below">
        {t`Changes of agents that wait for you. An approved change is carried out only if its plan is still the one shown here.`}
      </p>
      {error && <ErrorAlert title={t`Couldn't load the approvals`} error={error} onRetry={() => void refetch()} />}
      {!approvals && !error && <Skeleton height="6rem" label={t`Loading the approvals`} />}
      {approvals?.length === 0 && <p className="hg-note">{t`No change waits for an approval`}</p>}
      {approvals?.map((approval) => (
        <ApprovalSection key={approval.id} approval={approval} onDecided={reload} />
      ))}
    </div>
  );
}
