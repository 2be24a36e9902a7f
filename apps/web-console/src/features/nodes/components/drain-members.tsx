import { plural, t } from '@lingui/core/macro';
import type { DrainMemberPlanView, DrainPlanView } from '@headgate/api-contracts';
import { nameOfRef } from '../../../shared/bulk/bulk-report.js';
import { NameList } from '../../../shared/list/components/name-list.js';
import { readableEstimate } from '../../../shared/quantity/duration.js';
import { readableSizes } from '../../../shared/quantity/quantity.js';
import { Disclosure } from '../../../shared/ui/disclosure.js';
import { UncheckedList } from './unchecked-list.js';

const kind = {
  counted: (count: number): string => plural(count, { one: '# instance', other: '# instances' }),
  plural: 'instances',
};

/** The instances of a drain that stay, those that are interrupted, and the conditions that were not checked. */
export function DrainMembers({ plan: { members, unchecked } }: { plan: DrainPlanView }) {
  const leaving = members.filter(({ ok }) => ok);
  const some = [...new Set(leaving.flatMap((one) => one.unchecked))];
  return (
    <>
      <NameList
        kind={kind}
        title={t`Can't leave`}
        notes="service"
        names={members.filter(({ ok }) => !ok).map(refusalText)}
      />
      <NameList
        kind={kind}
        title={t`Interrupted`}
        notes="lines"
        names={leaving.filter(({ way }) => way === 'restart').map(interruptionText)}
      />
      <NameList
        kind={kind}
        title={t`Keeps running`}
        notes="lines"
        names={leaving.filter(({ way }) => way === 'migrate').map(runningText)}
      />
      {(unchecked.length > 0 || some.length > 0) && (
        <Disclosure label={t`Not checked`}>
          <UncheckedList all={unchecked} some={some} />
        </Disclosure>
      )}
    </>
  );
}

const refusalText = ({ ref, refusals }: DrainMemberPlanView): string =>
  `${nameOfRef(ref)}: ${refusals.map(({ reason, remedy }) => readableSizes([reason, remedy].filter(Boolean).join(' '))).join(' ')}`;

function interruptionText({ ref, interruption, warnings }: DrainMemberPlanView): string {
  const name = nameOfRef(ref);
  const time = interruption && readableEstimate(interruption);
  return [time ? t`${name}: down for ${time}.` : t`${name}: no restart has been measured yet.`, ...warnings].join(' ');
}

function runningText({ ref, seconds, interruption }: DrainMemberPlanView): string {
  const name = nameOfRef(ref);
  if (!seconds) return t`${name}: no migration of this kind has been measured yet.`;
  const took = readableEstimate(seconds);
  const pause = interruption && readableEstimate(interruption);
  return pause ? t`${name}: takes ${took}, with a pause of ${pause}.` : t`${name}: takes ${took}.`;
}
