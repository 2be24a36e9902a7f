import type { TwinInstanceView, TwinStateView, TwinView } from '@headgate/api-contracts';
import { formatBytes, type Grant } from '@headgate/domain-contracts';
import type { TwinInstance, TwinOutcome, TwinState } from '@headgate/rehearsals';

const MAX_OTHERS = 50;

/** The outcome for a caller: the instances that they may not read are not part of it. */
export function presentTwin(outcome: TwinOutcome, grant: Grant): TwinView {
  const isReadable = ({ ref }: TwinInstance): boolean => grant.allowsRef('read', ref);
  return {
    simulated: true,
    context: outcome.context,
    readAt: outcome.readAt,
    objects: outcome.objects,
    simulatedSeconds: seconds(outcome.simulatedMs),
    settled: outcome.isSettled,
    // A target that was deleted meanwhile can't be read; its caller has named it.
    instances: outcome.targets.map(presentInstance),
    others: outcome.others.filter(isReadable).slice(0, MAX_OTHERS).map(presentInstance),
    differences: [...outcome.differences],
    notes: [...outcome.notes],
  };
}

const presentInstance = ({ ref, before, after, steps, error, difference }: TwinInstance): TwinInstanceView => ({
  ref,
  ...(before && { before: presentState(before) }),
  ...(after && { after: presentState(after) }),
  steps: steps.map(({ atMs, name, detail, isWarning }) => ({
    seconds: seconds(atMs),
    name,
    detail,
    warning: isWarning,
  })),
  ...(error !== undefined && { error }),
  ...(difference !== undefined && { difference }),
});

function presentState({ memoryBytes, diskBytes, tags, ...state }: TwinState): TwinStateView {
  return {
    ...state,
    mem: formatBytes(memoryBytes),
    ...(diskBytes !== undefined && { disk: formatBytes(diskBytes) }),
    tags: [...tags],
  };
}

/** With one decimal. */
const seconds = (ms: number): number => Math.round(ms / 100) / 10;
