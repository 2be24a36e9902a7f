import { t } from '@lingui/core/macro';
import { useRef, type ReactNode } from 'react';
import { PlanContents } from '../../plans/plan-view.js';
import { readableRange } from '../../quantity/duration.js';
import { Button } from '../../ui/button.js';
import { ErrorAlert } from '../../ui/error-alert.js';
import type { CreationForm } from '../use-creation-form.js';

type Reviewed = Pick<
  CreationForm<object, string>,
  'plan' | 'error' | 'isValid' | 'isRehearsing' | 'creating' | 'rehearse'
>;

/** What the button will do, as the service has rehearsed it. */
export function CreationReview({ creation, children }: { creation: Reviewed; children: ReactNode }) {
  const { plan, error, isRehearsing, rehearse } = creation;
  const section = useRef<HTMLElement>(null);
  const show = (): void => {
    section.current?.scrollIntoView({ block: 'nearest' });
    section.current?.focus({ preventScroll: true });
    rehearse();
  };
  return (
    <>
      <section
        ref={section}
        className="hg-create-review"
        aria-label={t`What will happen`}
        aria-busy={isRehearsing}
        tabIndex={-1}
      >
        <h2>{t`What will happen`}</h2>
        <p className="hg-note" role="status">
          {stateOf(creation)}
        </p>
        {plan && <PlanContents plan={plan} />}
        {error && <ErrorAlert title={t`The service refused the request`} error={error} />}
        <Button variant="link" onClick={show}>
          {t`Rehearse again`}
        </Button>
      </section>
      {children}
    </>
  );
}

function stateOf({ plan, isValid, isRehearsing, creating }: Reviewed): string {
  if (creating) return t`Working`;
  if (!isValid) return t`Complete the form to see it. Nothing has happened yet.`;
  if (isRehearsing) return t`Asking the service. Nothing has happened yet.`;
  if (!plan) return t`Nothing has happened yet.`;
  if (plan.refusals.length > 0) return t`The service would refuse it. Nothing has happened yet.`;
  const count = `${plan.steps.length} ${plan.steps.length === 1 ? 'step' : 'steps'}`;
  return plan.seconds
    ? t`${count}, ${readableRange(plan.seconds)}. Nothing has happened yet.`
    : t`${count}. Nothing has happened yet.`;
}
