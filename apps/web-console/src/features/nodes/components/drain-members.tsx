import type { DrainMemberPlanView, DrainPlanView } from '@headgate/api-contracts';
import { nameOfRef } from '../../../shared/bulk/bulk-report.js';
import { NameList } from '../../../shared/list/components/name-list.js';
import { readableEstimate } from '../../../shared/quantity/duration.js';
import { readableSizes } from '../../../shared/quantity/quantity.js';
import { Disclosure } from '../../../shared/ui/disclosure.js';
import { UNCHECKED_OF_SOME } from '../failure-summary.js';

const INSTANCES = { singular: 'instance', plural: 'instances' };

/** The instances of a drain that stay, those that are interrupted, and the conditions that were not checked. */
export function DrainMembers({ plan: { members, unchecked } }: { plan: DrainPlanView }) {
  const leaving = members.filter(({ ok }) => ok);
  const some = [...new Set(leaving.flatMap((one) => one.unchecked))];
  return (
    <>
      <NameList kind={INSTANCES} title="Can't leave" names={members.filter(({ ok }) => !ok).map(refusalText)} />
      <NameList
        kind={INSTANCES}
        title="Interrupted"
        names={leaving.filter(({ way }) => way === 'restart').map(interruptionText)}
      />
      <NameList
        kind={INSTANCES}
        title="Keeps running"
        names={leaving.filter(({ way }) => way === 'migrate').map(runningText)}
      />
      {(unchecked.length > 0 || some.length > 0) && (
        <Disclosure label="Not checked">
          <ul>
            {unchecked.map((text) => (
              <li key={text}>{text}</li>
            ))}
            {some.length > 0 && <li>{`${UNCHECKED_OF_SOME} ${some.join('; ')}.`}</li>}
          </ul>
        </Disclosure>
      )}
    </>
  );
}

const refusalText = ({ ref, refusals }: DrainMemberPlanView): string =>
  `${nameOfRef(ref)}: ${refusals.map(({ reason, remedy }) => readableSizes([reason, remedy].filter(Boolean).join(' '))).join(' ')}`;

const interruptionText = ({ ref, interruption, warnings }: DrainMemberPlanView): string =>
  [
    `${nameOfRef(ref)}: ${interruption ? `down for ${readableEstimate(interruption)}.` : 'its restart was not measured yet.'}`,
    ...warnings,
  ].join(' ');

const runningText = ({ ref, seconds, interruption }: DrainMemberPlanView): string => {
  const took = seconds ? `takes ${readableEstimate(seconds)}` : 'no migration of this kind was measured yet';
  return `${nameOfRef(ref)}: ${took}${interruption ? `, with a pause of ${readableEstimate(interruption)}` : ''}.`;
};
