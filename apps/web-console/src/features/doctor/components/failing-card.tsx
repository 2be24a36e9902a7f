import { t, plural } from '@lingui/core/macro';
import { Link } from 'wouter';
import { collectionOf } from '../../../shared/instances/instance.js';
import { meanings, type FailingGroup } from '../failing-groups.js';
import { ProblemCard } from './problem-card.js';
import { SomeLinks } from './some-links.js';
import { readableNumber } from '../../../shared/texts/formats.js';
import { ServiceText } from '../../../shared/ui/service-text.js';

/** The instances that have failed in one way. */
export function FailingCard({ words, instances, path }: FailingGroup) {
  const count = instances.length;
  const things =
    collectionOf(instances[0]!) === 'vms'
      ? plural(count, { one: '# VM', other: '# VMs' })
      : plural(count, { one: '# container', other: '# containers' });
  const [reason, ...others] = new Set(instances.map((instance) => instance.reason).filter(Boolean));
  return (
    <ProblemCard
      severity="error"
      title={t`${words}: ${things}`}
      actions={
        <Link href={path} className="hg-button hg-button--secondary hg-button--small">
          {count === 1 ? t`Show it` : t`Show all ${readableNumber(count)}`}
          <span className="hg-hidden">{`: ${words}`}</span>
        </Link>
      }
      facts={<SomeLinks refs={instances.map(({ ref }) => ref)} count={count} />}
    >
      <p>{meanings()[words] ?? t`It needs attention.`}</p>
      {reason !== undefined && (
        <p>{others.length === 0 ? <ServiceText>{reason}</ServiceText> : t`${reason} The others have other reasons.`}</p>
      )}
    </ProblemCard>
  );
}
