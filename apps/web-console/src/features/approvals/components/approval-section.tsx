import { t } from '@lingui/core/macro';
import type { ApprovalView } from '@headgate/api-contracts';
import { useState } from 'react';
import { postJson } from '../../../shared/api/request.js';
import { PlanContents } from '../../../shared/plans/plan-view.js';
import { Alert } from '../../../shared/ui/alert.js';
import { Button } from '../../../shared/ui/button.js';
import { Data } from '../../../shared/ui/data.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { useNotify } from '../../../shared/ui/notifications.js';
import { Timestamp } from '../../../shared/ui/timestamp.js';
import { TwinResult } from './twin-result.js';

/** What a page shows of the plan of many instances. The service compares all of it. */
const MAX_STEPS = 100;

/** A commit of an agent with its plan. The words of the agent may be anything, so they are shown as a quotation. */
export function ApprovalSection({ approval, onDecided }: { approval: ApprovalView; onDecided: () => void }) {
  const { id, agent, action, changes, reason, plan, twin, committedAt, expiresAt, destructive, refs } = approval;
  const [decision, setDecision] = useState<'approve' | 'reject'>();
  const [failure, setFailure] = useState<Error>();
  const notify = useNotify();
  const label = `${agent}: ${action}`;

  const decide = async (choice: 'approve' | 'reject'): Promise<void> => {
    setFailure(undefined);
    setDecision(choice);
    try {
      await postJson(choice === 'approve' ? `/api/ext/approvals/${id}/approve` : `/api/ext/approvals/${id}/reject`);
      notify({ variant: 'success', title: choice === 'approve' ? t`Approved ${label}` : t`Rejected ${label}` });
      onDecided();
    } catch (error) {
      setFailure(error as Error);
      setDecision(undefined);
    }
  };

  const total = refs.length;
  const hidden = plan.steps.length - MAX_STEPS;
  return (
    <section className="hg-card hg-gap-below" aria-label={label}>
      <h2>
        <Data>{label}</Data>
      </h2>
      {destructive && <Alert isPlain variant="warning" title={t`Destroys data`} />}
      <p className="hg-note">
        {t`Changes ${changes} of ${total} instances`} · {t`Requested`} <Timestamp at={committedAt} /> · {t`Expires`}{' '}
        <Timestamp at={expiresAt} />
      </p>
      <p>{t`The agent's reason:`}</p>
      <blockquote translate="no">{reason}</blockquote>
      <PlanContents plan={{ ...plan, steps: plan.steps.slice(0, MAX_STEPS) }} title={t`Plan`} />
      {hidden > 0 && <p className="hg-note">{t`${hidden} more steps are not shown.`}</p>}
      {twin && <TwinResult twin={twin} />}
      {failure && <ErrorAlert title={t`Couldn't decide about the change`} error={failure} />}
      <div className="hg-actions">
        <Button
          variant={destructive ? 'danger' : 'primary'}
          isDisabled={decision !== undefined}
          isLoading={decision === 'approve'}
          onClick={() => void decide('approve')}
        >
          {t`Approve`}
        </Button>
        <Button
          variant="secondary"
          isDisabled={decision !== undefined}
          isLoading={decision === 'reject'}
          onClick={() => void decide('reject')}
        >
          {t`Reject`}
        </Button>
      </div>
    </section>
  );
}
