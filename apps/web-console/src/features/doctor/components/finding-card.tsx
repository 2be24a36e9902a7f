import { t } from '@lingui/core/macro';
import type { FindingView } from '@headgate/api-contracts';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { ProblemCard } from './problem-card.js';
import { Since } from './since.js';
import { SomeLinks } from './some-links.js';
import { Data } from '../../../shared/ui/data.js';
import { ServiceText } from '../../../shared/ui/service-text.js';

interface FindingCardProps {
  finding: FindingView;
  /** Why it can't be fixed now. */
  refusal: string | undefined;
  onFix: () => void;
}

/** A check that did not pass. */
export function FindingCard({ finding, refusal, onFix }: FindingCardProps) {
  const { status, title, message, remedy, context, name, fixable, since, affected, affectedCount } = finding;
  if (status === 'ok') return null;
  const fix = (
    <ReasonedButton variant="secondary" isSmall reason={refusal} aria-label={t`Fix ${title}…`} onClick={onFix}>
      {t`Fix it…`}
    </ReasonedButton>
  );
  return (
    <ProblemCard
      severity={status}
      title={<ServiceText>{title}</ServiceText>}
      actions={fixable && fix}
      facts={
        <>
          <Data>{`${context} · ${name}`}</Data>
          {' · '}
          <Since since={since} />
          {affectedCount > 0 && ' · '}
          <SomeLinks refs={affected} count={affectedCount} />
        </>
      }
    >
      <p lang="en">{message}</p>
      {remedy && <p lang="en">{remedy}</p>}
    </ProblemCard>
  );
}
