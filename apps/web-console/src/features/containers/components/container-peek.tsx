import { t } from '@lingui/core/macro';
import type { ContainerView } from '@headgate/api-contracts';
import { Link } from 'wouter';
import { SplitPower } from '../../../shared/actions/components/split-power.js';
import { PeekFacts } from '../../../shared/instances/peek-facts.js';
import { PeekState } from '../../../shared/instances/peek-state.js';
import { paths } from '../../../shared/location/paths.js';
import { readableQuantity } from '../../../shared/quantity/quantity.js';

/** The details of a container next to the list. */
export function ContainerPeek({ ct }: { ct: ContainerView }) {
  const { image, cpu, mem, tags } = ct;
  return (
    <>
      <PeekState instance={ct} />
      <div className="hg-peek-actions">
        <SplitPower instance={ct} />
        <Link href={paths.container(ct, 'terminal')} className="hg-button hg-button--secondary hg-button--small">
          {t`Shell`}
        </Link>
        <Link href={paths.container(ct, 'logs')} className="hg-button hg-button--secondary hg-button--small">
          {t`Logs`}
        </Link>
      </div>
      <PeekFacts
        facts={{
          [t`Image`]: image,
          [t`Size`]: `${cpu} CPUs, ${readableQuantity(mem)}`,
          [t`Tags`]: tags.join(', ') || undefined,
        }}
      />
    </>
  );
}
