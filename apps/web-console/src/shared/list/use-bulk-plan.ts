import { useQuery } from '@tanstack/react-query';
import { useId, useMemo, useState } from 'react';
import type { BulkOperation } from '../actions/bulk-operations.js';
import { planState } from '../actions/registry.js';
import { previewBulk } from '../bulk/bulk-request.js';
import { bulkOptions, type BulkChoices } from '../bulk/bulk-options.js';
import type { Instance } from '../instances/instance.js';
import { plannedMembers } from './planned-members.js';

interface BulkPlanInput<E extends Instance> {
  operation: BulkOperation<E>;
  /** The selected instances, whose entries are kept up to date. */
  members: readonly E[];
  /** The input of the user, once it is settled; undefined while it can't be planned. */
  text: string | undefined;
  choices: BulkChoices;
}

/**
 * The plan of an operation on several instances. It is requested once and does not change while the instances change:
 * the number that the user types must stay the same. It reports how many changed since, and plans again on request.
 */
export function useBulkPlan<E extends Instance>({ operation, members, text, choices }: BulkPlanInput<E>) {
  const id = useId();
  const [round, setRound] = useState(0);
  const [known, setKnown] = useState(() => split(members, operation));
  const { included } = known;
  const options = bulkOptions(choices);
  const preview = useQuery({
    queryKey: ['bulk plan', id, round, text, options],
    queryFn: ({ signal }) =>
      previewBulk(
        { ...operation.request(text ?? ''), ...options },
        included.map(({ ref }) => ref),
        signal,
      ),
    enabled: text !== undefined && included.length > 0,
    staleTime: Infinity,
    gcTime: 0,
    // The old plan is shown until the new one arrives.
    placeholderData: (before) => before,
  });
  const changed = useMemo(() => changedSince(known.states, members), [known, members]);
  const planned = plannedMembers(included, preview.data);
  return {
    preview,
    planned: { ...planned, refused: [...known.refused, ...planned.refused] },
    /** How many instances are in another state than when the plan was created, or do not exist any more. */
    changed,
    rehearse: () => {
      setKnown(split(members, operation));
      setRound(round + 1);
    },
  };
}

function split<E extends Instance>(members: readonly E[], { refusal }: BulkOperation<E>) {
  const verdicts = members.map((entry) => ({ entry, reason: refusal(entry) }));
  return {
    included: verdicts.filter(({ reason }) => reason === undefined).map(({ entry }) => entry),
    refused: verdicts.flatMap(({ entry, reason }) => (reason === undefined ? [] : [{ entry, reason }])),
    states: new Map(members.map((entry) => [entry.ref, planState(entry)])),
  };
}

/** Also counts instances that joined or left the selection. */
function changedSince(states: ReadonlyMap<string, string>, members: readonly Instance[]): number {
  const same = members.filter((entry) => states.get(entry.ref) === planState(entry)).length;
  return Math.max(states.size, members.length) - same;
}
