import { Alert } from '@patternfly/react-core';
import type { PlanView as Plan } from '@headgate/api-contracts';

/** What a rehearsal answered: refusals first, then what would be done, then what to know. */
export function PlanView({ plan, title }: { plan: Plan; title: string }) {
  return (
    <section className="hg-plan" aria-label={title}>
      {plan.refusals.map(({ code, reason, remedy }) => (
        <Alert key={`${code} ${reason}`} isInline variant="danger" title={reason}>
          {remedy}
        </Alert>
      ))}
      <h3>{title}</h3>
      <ol>
        {plan.steps.map(({ name, detail }) => (
          <li key={`${name} ${detail}`}>
            <b>{name}</b> <span className="hg-note">{detail}</span>
          </li>
        ))}
      </ol>
      {plan.warnings.map((warning) => (
        <Alert key={warning} isInline isPlain variant="warning" title={warning} />
      ))}
    </section>
  );
}
