import { useClient } from '../api/context.js';
import type { Explanation, Lift } from '../api/types.js';
import { ago, duration } from '../model/durations.js';
import { Name } from '../ui/parts.js';
import { Plan, type PlanStep } from '../ui/plan.js';

interface LiftPlanProps {
  readonly lifting: Explanation;
  /** Everything that decides on the same user, account or address. */
  readonly all: readonly Explanation[];
  onLifted(): void;
  onClose(): void;
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

/** What a lift changes, and what it leaves. */
export function stepsOf({ lifting, all }: Pick<LiftPlanProps, 'lifting' | 'all'>): PlanStep[] {
  const { counted, blockedForMs, rule, key } = lifting;
  const others = all.filter((one) => one.isFull && !one.shadow && !(one.rule === rule && one.key === key));
  return [
    {
      tone: 'ok',
      text:
        blockedForMs > 0
          ? `Lifts the block that ends in ${duration(blockedForMs)}, forgets ${count(counted, 'counted request')}, and the next block is as short as the first.`
          : `Forgets ${count(counted, 'counted request')} of this window.`,
    },
    ...others.map((one): PlanStep => ({
      tone: 'bad',
      text: (
        <>
          Leaves {one.rule} for <Name>{one.key}</Name>, which refuses for another{' '}
          {duration(Math.max(one.closesInMs, one.blockedForMs))}.
        </>
      ),
    })),
    { tone: 'idle', text: 'Leaves all other keys, overrides and caps, and the limits of the homeserver.' },
    { tone: 'warn', text: 'The rule stays: the same number of requests fills the window again.' },
  ];
}

export function LiftPlan({ lifting, all, onLifted, onClose }: LiftPlanProps) {
  const client = useClient();
  const { rule, key } = lifting;
  const run = async (reason: string) => {
    const { lifted, previous } = await client.send<Lift>('POST', '/lifts', { rule, key, reason });
    onLifted();
    if (lifted) return 'Lifted. The next request is counted from zero.';
    if (!previous) return 'There was nothing left to lift: the window had ended.';
    return `There was nothing left to lift: ${previous.operator} lifted it ${ago(previous.time, Date.now())}.`;
  };
  return (
    <Plan
      title={
        <>
          Lift {rule} for <Name>{key}</Name>
        </>
      }
      steps={stepsOf({ lifting, all })}
      action={`Lift ${rule}`}
      run={run}
      onClose={onClose}
    />
  );
}
