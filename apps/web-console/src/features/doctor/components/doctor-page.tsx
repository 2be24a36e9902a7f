import { Button, Skeleton } from '@patternfly/react-core';
import type { CheckView } from '@headgate/api-contracts';
import { useState } from 'react';
import type { IconName } from '../../../icons.js';
import { PlanDialog } from '../../../shared/plans/plan-dialog.js';
import { readOnlyReason, useWhoami } from '../../../shared/queries/use-whoami.js';
import { useNotify } from '../../../shared/ui/notifications.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { usePageTitle } from '../../../shared/ui/use-page-title.js';
import { Icon } from '../../../shared/ui/icon.js';
import { fixChecks, rehearseFix } from '../api/fix-checks.js';
import { useChecks } from '../api/use-checks.js';

const VERDICT: Readonly<Record<CheckView['status'], { tone: string; icon: IconName; word: string; rank: number }>> = {
  error: { tone: 'bad', icon: 'error', word: 'Error', rank: 0 },
  warning: { tone: 'held', icon: 'alert', word: 'Warning', rank: 1 },
  ok: { tone: 'good', icon: 'check', word: 'OK', rank: 2 },
};

/** What is wrong with the contexts and what helps; the worst first. */
export function DoctorPage() {
  usePageTitle('Doctor');
  const { data: checks, error, refetch, isFetching } = useChecks();
  const { data: whoami } = useWhoami();
  const notify = useNotify();
  const [fixing, setFixing] = useState(false);
  const sorted = checks?.toSorted((a, b) => VERDICT[a.status].rank - VERDICT[b.status].rank);
  const bad = checks?.filter(({ status }) => status !== 'ok').length ?? 0;

  const fixable = checks?.filter((check) => check.fixable && check.status !== 'ok').length ?? 0;

  return (
    <div className="hg-page">
      <div className="hg-toolbar hg-gap-below">
        <h1 className="hg-page-title">Doctor</h1>
        {checks && (
          <span className="hg-note" role="status">
            {bad === 0 ? `All ${checks.length} checks are fine.` : `${bad} of ${checks.length} checks need somebody.`}
          </span>
        )}
        <span className="hg-spring" />
        {fixable > 0 && (
          <ReasonedButton
            size="sm"
            icon={<Icon name="build" />}
            reason={readOnlyReason(whoami)}
            onClick={() => setFixing(true)}
          >
            {`Fix ${fixable}`}
          </ReasonedButton>
        )}
        <Button
          variant="secondary"
          size="sm"
          icon={<Icon name="restart" />}
          isDisabled={isFetching}
          onClick={() => void refetch()}
        >
          Check again
        </Button>
      </div>
      {error && <ErrorAlert title="The checks did not run" error={error} />}
      {fixing && (
        <PlanDialog
          title="Fix what can be fixed from here?"
          label="Fix"
          failure="Not everything was fixed"
          rehearse={rehearseFix}
          run={fixChecks}
          onClose={() => setFixing(false)}
          onDone={({ fixed }) => {
            setFixing(false);
            notify({
              variant: 'success',
              title: fixed.length === 0 ? 'There was nothing left to fix' : `Fixed: ${fixed.join(', ')}`,
            });
            void refetch();
          }}
        />
      )}
      {!checks && !error && <Skeleton height="10rem" screenreaderText="Checking" />}
      <ul className="hg-checks" aria-label="Checks">
        {sorted?.map(({ name, context, status, message, remedy }) => {
          const { tone, icon, word } = VERDICT[status];
          return (
            <li key={`${context}/${name}`} className="hg-card hg-check">
              <span className={`hg-status hg-status--${tone}`}>
                <Icon name={icon} />
                {word}
              </span>
              <b>{name}</b>
              <span className="hg-note">{context}</span>
              <p>{message}</p>
              {remedy && status !== 'ok' && (
                <p>
                  <b>What helps:</b> {remedy}
                </p>
              )}
            </li>
          );
        })}
      </ul>
    </div>
  );
}
