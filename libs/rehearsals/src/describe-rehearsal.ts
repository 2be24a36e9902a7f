import { parseRef, type InstanceIdentity, type InstanceRef } from '@headgate/domain-contracts';
import type { PlanDifference } from './compare-plans.js';
import type { Rehearsal } from './rehearsal.js';

/** The targets that only one of two choices has, and those that are other objects of the same name. */
export function targetDifferences(
  before: readonly InstanceIdentity[],
  now: readonly InstanceIdentity[],
): PlanDifference[] {
  const [old, fresh] = [before, now].map((all) => new Map(all.map(({ ref, uid }) => [ref, uid])));
  return [...new Set([...(old?.keys() ?? []), ...(fresh?.keys() ?? [])])].flatMap((ref) => {
    const [rehearsed = null, current = null] = [old?.get(ref), fresh?.get(ref)];
    return rehearsed === current ? [] : [{ ref, rehearsed, now: current }];
  });
}

export const refsOf = (targets: readonly InstanceIdentity[]): InstanceRef[] => targets.map(({ ref }) => parseRef(ref));

/** The instance, if there is only one. */
export const subjectOf = ({ id, targets: [only, other] }: Pick<Rehearsal, 'id' | 'targets'>): string =>
  only && !other ? only.ref : `rehearsal/${id}`;

/** The agent can't end the sentence that quotes it. */
export function noteOf({
  tokenName,
  reason,
  decidedBy,
}: Pick<Rehearsal, 'tokenName' | 'reason' | 'decidedBy'>): string {
  const said = reason === '' ? 'which gave no reason' : `which said: ${JSON.stringify(reason)}`;
  const approved =
    decidedBy === undefined ? '' : ` Approved by ${decidedBy === '' ? 'a user without a login' : decidedBy}.`;
  return `By the agent ${tokenName}, ${said}.${approved}`;
}
