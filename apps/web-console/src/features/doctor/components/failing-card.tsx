import { Link } from 'wouter';
import { collectionOf } from '../../../shared/instances/instance.js';
import { MEANINGS, type FailingGroup } from '../failing-groups.js';
import { ProblemCard } from './problem-card.js';
import { SomeLinks } from './some-links.js';

/** The instances that have failed in one way. */
export function FailingCard({ words, instances, path }: FailingGroup) {
  const count = instances.length;
  const noun = collectionOf(instances[0]!) === 'vms' ? 'VM' : 'container';
  const things = `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
  const [reason, ...others] = new Set(instances.map((instance) => instance.reason).filter(Boolean));
  return (
    <ProblemCard
      severity="error"
      title={`${words}: ${things}`}
      actions={
        <Link href={path} className="hg-button hg-button--secondary hg-button--small">
          {count === 1 ? 'Show it' : `Show all ${count.toLocaleString('en')}`}
          <span className="hg-hidden">{`: ${words}`}</span>
        </Link>
      }
      facts={<SomeLinks refs={instances.map(({ ref }) => ref)} count={count} />}
    >
      <p>{MEANINGS[words] ?? 'It needs attention.'}</p>
      {reason !== undefined && <p>{others.length === 0 ? reason : `${reason} The others have other reasons.`}</p>}
    </ProblemCard>
  );
}
