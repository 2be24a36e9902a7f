import { t } from '@lingui/core/macro';
import type { HardwareChangesPlanView, MovePlanView, PlanView as Plan } from '@headgate/api-contracts';
import { useEffect, useRef } from 'react';
import { readableEstimate, readableRange } from '../quantity/duration.js';
import { readableSizes } from '../quantity/quantity.js';
import { Alert } from '../ui/alert.js';
import { ChangesByEffect } from './changes-by-effect.js';
import { ServiceText } from '../ui/service-text.js';

type AnyPlan = Plan | MovePlanView | HardwareChangesPlanView;

/**
 * The result of a dry run: refusals first, then the steps, then the warnings. It scrolls into view and takes the focus,
 * unless the user is typing.
 */
export function PlanView({ plan, title }: { plan: AnyPlan; title: string }) {
  const section = useRef<HTMLElement>(null);
  useEffect(() => {
    section.current?.scrollIntoView({ block: 'nearest' });
    if (!(document.activeElement instanceof HTMLInputElement)) section.current?.focus({ preventScroll: true });
  }, [plan]);
  return (
    <section ref={section} className="hg-plan" aria-label={title} tabIndex={-1}>
      <PlanContents plan={plan} title={title} />
    </section>
  );
}

/** The same in a part of the page that is always there. */
export function PlanContents({ plan, title }: { plan: AnyPlan; title?: string }) {
  return (
    <>
      {plan.refusals.map(({ code, reason, remedy }) => (
        <Alert key={`${code} ${reason}`} variant="danger" title={readableSizes(reason)} isServiceText>
          <ServiceText>{readableSizes(remedy)}</ServiceText>{' '}
          <small className="hg-api-code" translate="no">
            {code}
          </small>
        </Alert>
      ))}
      {title !== undefined && <h3>{title}</h3>}
      {'changes' in plan && <ChangesByEffect changes={plan.changes} />}
      <ol>
        {('changes' in plan ? [] : plan.steps).map(({ name, detail, seconds: ofStep }) => (
          <li key={`${name} ${detail}`}>
            <b lang="en">{name}</b>{' '}
            <span className="hg-note" lang="en">
              {readableSizes(detail)}
            </span>
            {/* That of a single step is that of the plan. */}
            {ofStep && plan.steps.length > 1 && <span className="hg-note">{` · ${readableRange(ofStep)}`}</span>}
          </li>
        ))}
      </ol>
      {plan.seconds && <p className="hg-note">{t`Takes ${readableEstimate(plan.seconds)}.`}</p>}
      {'interruption' in plan && plan.interruption && (
        <p className="hg-note">{t`The guest is interrupted for ${readableEstimate(plan.interruption)}.`}</p>
      )}
      {plan.warnings.map((warning) => (
        <Alert key={warning} isPlain variant="warning" title={readableSizes(warning)} isServiceText />
      ))}
    </>
  );
}
