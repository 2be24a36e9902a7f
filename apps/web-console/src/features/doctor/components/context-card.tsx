import { plural, t } from '@lingui/core/macro';
import type { FindingView } from '@headgate/api-contracts';
import { Link } from 'wouter';
import { useContainers, useFleet } from '../../../shared/fleet/fleet-provider.js';
import type { ReachableContext } from '../../../shared/fleet/use-contexts.js';
import { paths } from '../../../shared/location/paths.js';
import { ProblemCard } from './problem-card.js';
import { Since } from './since.js';
import { readableNumber } from '../../../shared/texts/formats.js';
import { Data } from '../../../shared/ui/data.js';

interface ContextCardProps {
  context: ReachableContext;
  /** Its checks that failed, most of which are a consequence. */
  failed: readonly FindingView[];
}

/** A context that does not answer. */
export function ContextCard({ context: { context, reason }, failed }: ContextCardProps) {
  const vms = useFleet(({ entries }) => entries.filter((entry) => entry.context === context).length);
  const containers = useContainers(({ entries }) => entries.filter((entry) => entry.context === context).length);
  const count = vms + containers;
  const [first] = failed.toSorted((a, b) => (a.since ?? '').localeCompare(b.since ?? ''));
  const why = reason ?? first?.message;
  return (
    <ProblemCard
      severity="error"
      title={t`${context} does not answer`}
      actions={
        vms > 0 && (
          <Link
            href={`${paths.fleet}?${new URLSearchParams({ context })}`}
            className="hg-button hg-button--secondary hg-button--small"
          >
            {vms === 1 ? t`Show its VM` : t`Show its ${readableNumber(vms)} VMs`}
          </Link>
        )
      }
      facts={
        <>
          <Data>{context}</Data>
          {failed.length > 0 &&
            t` · ${failed.length} failed ${plural(failed.length, { one: 'check', other: 'checks' })} · `}
          {first && <Since since={first.since} />}
        </>
      }
    >
      <p>
        {count === 0
          ? t`No actions are possible there.`
          : t`Its ${plural(count, { one: '# instance', other: '# instances' })} may still run; the console shows their last known state, and no action on them is possible.`}
      </p>
      {why && <p lang="en">{why}</p>}
      {first?.remedy && <p lang="en">{first.remedy}</p>}
    </ProblemCard>
  );
}
