import type { AgentAction, RehearsedChangeDto } from '@headgate/api-contracts';
import type { AnyPlan } from '@headgate/domain-contracts';
import type { TwinState } from '@headgate/rehearsals';

const MAX_DIFFERENCES = 20;

/** What an action promises about the state of an instance afterwards. */
type Promised = (after: TwinState | null, before: TwinState | null, dto: RehearsedChangeDto) => boolean;

const isUp = (state: TwinState | null): boolean => state?.status === 'Running' || state?.status === 'Migrating';

const PROMISES: Partial<Record<AgentAction, { readonly verb: string; readonly isKept: Promised }>> = {
  start: { verb: 'starts it', isKept: isUp },
  stop: { verb: 'stops it', isKept: (after) => after?.status === 'Stopped' },
  restart: { verb: 'restarts it', isKept: isUp },
  pause: { verb: 'pauses it', isKept: (after) => after?.status === 'Paused' },
  unpause: { verb: 'resumes it', isKept: isUp },
  migrate: { verb: 'migrates it', isKept: (after, before) => isUp(after) && after?.node !== before?.node },
  delete: { verb: 'deletes it', isKept: (after) => after === null },
  tag: { verb: 'adds the tag', isKept: (after, _before, { tag = '' }) => after?.tags.includes(tag) === true },
  untag: { verb: 'removes the tag', isKept: (after, _before, { tag = '' }) => after?.tags.includes(tag) === false },
};

/** One sentence about an outcome that is not the one that the plan promises; undefined if it is. */
export function differenceOf(
  dto: RehearsedChangeDto,
  before: TwinState | null,
  after: TwinState | null,
  error: string | undefined,
): string | undefined {
  if (error !== undefined) return `The plan has no refusal; in the twin it failed: ${error}`;
  const promise = PROMISES[dto.action];
  if (!promise)
    return after?.restartRequired && !before?.restartRequired
      ? 'In the twin, the change waits for a restart of the guest.'
      : undefined;
  if (promise.isKept(after, before, dto)) return undefined;
  return `The plan ${promise.verb}; in the twin it ${inWords(after)}`;
}

function inWords(state: TwinState | null): string {
  if (!state) return 'does not exist afterwards.';
  const where = state.node === undefined ? '' : ` on ${state.node}`;
  return `is ${state.status}${where} afterwards${state.reason === undefined ? '.' : `: ${state.reason}`}`;
}

interface PlanParts {
  readonly steps?: readonly { readonly name: string }[];
  readonly refusals?: readonly { readonly reason: string }[];
  readonly members?: readonly (PlanParts & { readonly ref: string })[];
}

/** How the plan in a twin differs from the one of the real context: by its steps and refusals. */
export function planDifferences(real: AnyPlan, simulated: AnyPlan): string[] {
  const [before, now] = [real, simulated].map((plan) => textsOf(plan as PlanParts));
  const differences = [...(now ?? [])].flatMap(([ref, text]) => {
    const planned = before?.get(ref);
    const prefix = ref === '' ? '' : `${ref}: `;
    return planned === undefined || planned === text
      ? []
      : [`${prefix}The plan is "${planned}"; the plan in the twin is "${text}".`];
  });
  return differences.slice(0, MAX_DIFFERENCES);
}

const textsOf = (plan: PlanParts): Map<string, string> =>
  new Map(plan.members?.map((member) => [member.ref, textOf(member)]) ?? [['', textOf(plan)]]);

const textOf = ({ steps = [], refusals = [] }: PlanParts): string =>
  [...steps.map(({ name }) => name), ...refusals.map(({ reason }) => `refused: ${reason}`)].join(', ');
