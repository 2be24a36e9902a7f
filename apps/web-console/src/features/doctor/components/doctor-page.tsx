import { plural, t } from '@lingui/core/macro';
import type { FindingView } from '@headgate/api-contracts';
import { useState } from 'react';
import { useContainers, useFleet } from '../../../shared/fleet/fleet-provider.js';
import { useContexts } from '../../../shared/fleet/use-contexts.js';
import { PAGE_FOCUS } from '../../../shared/location/use-page-focus.js';
import { Button } from '../../../shared/ui/button.js';
import { EmptyState } from '../../../shared/ui/empty-state.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Icon } from '../../../shared/ui/icon.js';
import { Skeleton } from '../../../shared/ui/loading.js';
import { Timestamp } from '../../../shared/ui/timestamp.js';
import { usePageTitle } from '../../../shared/ui/use-page-title.js';
import { readOnlyReason, useWhoami } from '../../../shared/queries/use-whoami.js';
import { useFindings } from '../api/use-findings.js';
import { failingGroups } from '../failing-groups.js';
import { ContextCard } from './context-card.js';
import { FailingCard } from './failing-card.js';
import { FindingCard } from './finding-card.js';
import { FixPanel } from './fix-panel.js';
import { PassedChecks } from './passed-checks.js';

const keyOf = ({ context, name }: FindingView): string => `${context}/${name}`;

/** What needs the user, the worst first, with a fix for each where there is one. */
export function DoctorPage() {
  usePageTitle(t`Health`);
  const { data: findings, error, refetch, isFetching, dataUpdatedAt } = useFindings();
  const { data: whoami } = useWhoami();
  const isConnected = useFleet(({ phase }) => phase !== 'lost');
  const vms = useFleet(({ entries }) => entries);
  const containers = useContainers(({ entries }) => entries);
  const contexts = useContexts();
  const [fixing, setFixing] = useState<FindingView>();
  // Without the service, nothing is known about its contexts.
  const down = isConnected ? contexts.filter(({ up }) => !up) : [];
  const isDown = (name: string): boolean => down.some(({ context }) => context === name);
  const failing = failingGroups([...vms, ...containers]);
  const errors = findings?.filter(({ status, context }) => status === 'error' && !isDown(context)) ?? [];
  const warnings = findings?.filter(({ status }) => status === 'warning') ?? [];
  const passed = findings?.filter(({ status }) => status === 'ok') ?? [];
  const urgent = down.length + errors.length + failing.length;

  const card = (finding: FindingView) => (
    <FindingCard
      key={keyOf(finding)}
      finding={finding}
      refusal={readOnlyReason(whoami) ?? (isDown(finding.context) ? t`${finding.context} does not answer.` : undefined)}
      onFix={() => setFixing(finding)}
    />
  );
  return (
    <div className="hg-page hg-health">
      <div className="hg-toolbar hg-gap-below">
        <h1 className="hg-page-title" {...PAGE_FOCUS}>
          {t`Health`}
        </h1>
        {findings && (
          <span className="hg-note">
            <span role="status">{summaryOf(urgent, warnings.length, passed.length)}</span>
            {t` · checked `}
            <Timestamp at={new Date(dataUpdatedAt).toISOString()} />
          </span>
        )}
        <span className="hg-spring" />
        <Button
          variant="secondary"
          isSmall
          icon={<Icon name="restart" />}
          isDisabled={isFetching}
          onClick={() => void refetch()}
        >
          {t`Check again`}
        </Button>
      </div>
      {error && <ErrorAlert title={t`Couldn't run the checks`} error={error} onRetry={() => void refetch()} />}
      {fixing && (
        <FixPanel
          key={keyOf(fixing)}
          finding={fixing}
          current={findings?.find((finding) => keyOf(finding) === keyOf(fixing))}
          onClose={() => setFixing(undefined)}
          onDone={() => void refetch()}
        />
      )}
      {urgent > 0 && (
        <section aria-labelledby="hg-health-urgent">
          <h2 id="hg-health-urgent">{t`Needs attention`}</h2>
          <ul className="hg-problems">
            {down.map((context) => (
              <ContextCard
                key={context.context}
                context={context}
                failed={findings?.filter((one) => one.status === 'error' && one.context === context.context) ?? []}
              />
            ))}
            {errors.map(card)}
            {failing.map((group) => (
              <FailingCard key={group.path} {...group} />
            ))}
          </ul>
        </section>
      )}
      {warnings.length > 0 && (
        <section aria-labelledby="hg-health-warnings">
          <h2 id="hg-health-warnings">{t`Warnings`}</h2>
          <ul className="hg-problems">{warnings.map(card)}</ul>
        </section>
      )}
      {!findings && !error && <Skeleton height="10rem" label={t`Running the checks`} />}
      {findings?.length === 0 && urgent === 0 && (
        <EmptyState title={t`No checks`} level={2}>
          {t`No reachable context has checks. Run them again when a context is reachable.`}
        </EmptyState>
      )}
      {findings && findings.length > 0 && isConnected && !error && urgent + warnings.length === 0 && (
        <EmptyState title={t`Nothing needs attention`} level={2} icon="check">
          {t`All checks passed, and no VM or container has failed.`}
        </EmptyState>
      )}
      <PassedChecks passed={passed} />
    </div>
  );
}

function summaryOf(urgent: number, warnings: number, passed: number): string {
  const parts = [
    urgent > 0 && plural(urgent, { one: '# needs attention', other: '# need attention' }),
    warnings > 0 && plural(warnings, { one: '# warning', other: '# warnings' }),
    passed > 0 && t`${passed} passed`,
  ];
  return parts.filter(Boolean).join(', ') || t`No checks`;
}
