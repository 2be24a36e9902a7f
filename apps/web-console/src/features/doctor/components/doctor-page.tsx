import type { CheckView } from '@headgate/api-contracts';
import { useState } from 'react';
import type { IconName } from '../../../icons.js';
import { PAGE_FOCUS } from '../../../shared/location/use-page-focus.js';
import { PlanPanel } from '../../../shared/plans/plan-panel.js';
import { readOnlyReason, useWhoami } from '../../../shared/queries/use-whoami.js';
import { Button } from '../../../shared/ui/button.js';
import { EmptyState } from '../../../shared/ui/empty-state.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Icon } from '../../../shared/ui/icon.js';
import { Skeleton } from '../../../shared/ui/loading.js';
import { useNotify } from '../../../shared/ui/notifications.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import type { StatusTone } from '../../../shared/ui/status-tone.js';
import { usePageTitle } from '../../../shared/ui/use-page-title.js';
import { fixChecks, previewFix } from '../api/fix-checks.js';
import { useChecks } from '../../../shared/queries/use-checks.js';

interface Severity {
  readonly tone: StatusTone;
  readonly icon: IconName;
  readonly label: string;
  readonly rank: number;
}

const SEVERITIES: Readonly<Record<CheckView['status'], Severity>> = {
  error: { tone: 'danger', icon: 'error', label: 'Error', rank: 0 },
  warning: { tone: 'warning', icon: 'alert', label: 'Warning', rank: 1 },
  ok: { tone: 'success', icon: 'check', label: 'OK', rank: 2 },
};

/** The health checks of all contexts, the worst first. */
export function DoctorPage() {
  usePageTitle('Health');
  const { data: checks, error, refetch, isFetching } = useChecks();
  const { data: whoami } = useWhoami();
  const notify = useNotify();
  const [isFixing, setIsFixing] = useState(false);
  const sorted = checks?.toSorted((a, b) => SEVERITIES[a.status].rank - SEVERITIES[b.status].rank);
  const failing = checks?.filter(({ status }) => status !== 'ok') ?? [];
  const fixable = failing.filter((check) => check.fixable).length;

  return (
    <div className="hg-page">
      <div className="hg-toolbar hg-gap-below">
        <h1 className="hg-page-title" {...PAGE_FOCUS}>
          Health
        </h1>
        {checks && (
          <span className="hg-note" role="status">
            {checks.length === 0
              ? 'No checks'
              : failing.length === 0
                ? `All ${checks.length} checks passed`
                : `${failing.length} of ${checks.length} ${failing.length === 1 ? 'needs' : 'need'} attention`}
          </span>
        )}
        <span className="hg-spring" />
        {fixable > 0 && (
          <ReasonedButton
            isSmall
            icon={<Icon name="build" />}
            reason={readOnlyReason(whoami)}
            onClick={() => setIsFixing(true)}
          >
            {`Fix ${fixable} ${fixable === 1 ? 'problem' : 'problems'}`}
          </ReasonedButton>
        )}
        <Button
          variant="secondary"
          isSmall
          icon={<Icon name="restart" />}
          isDisabled={isFetching}
          onClick={() => void refetch()}
        >
          Run checks again
        </Button>
      </div>
      {error && <ErrorAlert title="Couldn't run the checks" error={error} onRetry={() => void refetch()} />}
      {isFixing && (
        <PlanPanel
          title="Fix these problems?"
          label="Fix"
          failure="Couldn't fix everything"
          preview={previewFix}
          run={fixChecks}
          onClose={() => setIsFixing(false)}
          onDone={({ fixed }) => {
            setIsFixing(false);
            notify({
              variant: 'success',
              title: fixed.length === 0 ? 'There was nothing to fix' : `Fixed: ${fixed.join(', ')}`,
            });
            void refetch();
          }}
        />
      )}
      {!checks && !error && <Skeleton height="10rem" label="Running the checks" />}
      {checks?.length === 0 && (
        <EmptyState title="No checks" level={2}>
          No reachable context has checks. Run them again when a context is reachable.
        </EmptyState>
      )}
      <ul className="hg-checks" aria-label="Checks">
        {sorted?.map(({ name, context, status, message, remedy }) => {
          const { tone, icon, label } = SEVERITIES[status];
          return (
            <li key={`${context}/${name}`} className="hg-card hg-check">
              <span className={`hg-status hg-status--${tone}`}>
                <Icon name={icon} />
                {label}
              </span>
              <b>{name}</b>
              <span className="hg-note">{context}</span>
              <p>{message}</p>
              {remedy && status !== 'ok' && (
                <p>
                  <b>Remedy:</b> {remedy}
                </p>
              )}
            </li>
          );
        })}
      </ul>
    </div>
  );
}
