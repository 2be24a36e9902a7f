import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  buildPlan,
  DomainError,
  messageOf,
  parseRef,
  refusal,
  runConcurrently,
  type Clock,
  type InstanceRef,
  type Plan,
} from '@headgate/domain-contracts';

/** The plan of one instance of a bulk task: that of a single request. */
export interface MemberPlan extends Plan {
  /** The ref of the instance, as text. */
  readonly ref: string;
  /** Whether there is no refusal. */
  readonly ok: boolean;
}

/** How many members are planned at a time: some plans ask a backend. */
const MAX_CONCURRENT_PLANS = 16;
/** A request must be answered; members whose turn comes later are not planned. */
const PLAN_LIMIT_MS = 10_000;
/** After so many plans from memory, other requests have their turn. */
const PLANS_PER_TURN = 50;

/**
 * Plans each instance, in their order, for at most 10 seconds.
 * @param planOne a failure refuses only its instance
 * @returns the plans that were completed in time, in the order of the refs
 */
export async function planMembers(
  refs: readonly string[],
  planOne: (ref: InstanceRef) => Promise<Plan>,
  clock: Clock,
): Promise<MemberPlan[]> {
  const plans = new Map<string, MemberPlan>();
  const limit = Promise.withResolvers<void>();
  let isLate = false;
  let turn = Promise.resolve();
  const end = (): void => {
    isLate = true;
    limit.resolve();
  };
  const cancel = clock.after(PLAN_LIMIT_MS, end);
  const all = runConcurrently(refs, MAX_CONCURRENT_PLANS, async (ref) => {
    if (isLate) return;
    const plan = await planMember(ref, planOne);
    if (isLate) return;
    plans.set(ref, plan);
    if (plans.size % PLANS_PER_TURN === 0) turn = nextTurn();
    await turn;
  });
  try {
    await Promise.race([all, limit.promise]);
  } finally {
    cancel();
  }
  return refs.flatMap((ref) => plans.get(ref) ?? []);
}

async function planMember(ref: string, planOne: (ref: InstanceRef) => Promise<Plan>): Promise<MemberPlan> {
  const plan = await planOne(parseRef(ref)).catch(refusedPlan);
  const ok = plan.refusals.length === 0;
  return { ref, ok, ...plan, steps: ok ? plan.steps : [] };
}

/** A single request with this error would be refused. */
function refusedPlan(error: unknown): Plan {
  const code = DomainError.is(error) ? error.code : 'BACKEND_FAILED';
  return buildPlan([], { refusals: [refusal(code, messageOf(error), '')] });
}
