import { ClientError } from '../client/client-error.js';
import { EXIT_CODES } from '../exit-codes.js';
import type { Session } from '../session.js';
import { followTask, taskFailure } from '../tasks/follow-task.js';
import { errorLine } from '../terminal/output.js';
import { ask, canAsk } from '../terminal/prompt.js';
import { formatPlan, isDisruptive, type ShownPlan } from './plan.js';

/** What a change has done, in the words of the service. */
export interface ChangeResult {
  readonly status: string;
  readonly task?: string;
  readonly warnings?: readonly string[];
}

/** A change of one object, with its plan. */
export interface Change {
  /** The ref or the name of the object. */
  readonly target: string;
  /** Names the change and the object: `Stop web-1`. */
  readonly title: string;
  /** Whether it interrupts or destroys something whatever the plan says. */
  readonly isDisruptive?: boolean;
  plan(): Promise<ShownPlan>;
  run(): Promise<ChangeResult>;
}

export interface ChangeOptions {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly wait?: boolean;
}

interface Outcome extends Partial<ChangeResult> {
  readonly target: string;
  readonly error?: string;
  readonly code?: string;
}

/**
 * Rehearses or carries out changes: those that interrupt or destroy something only with `--yes` or after a question.
 * @throws ClientError when one is refused, declined or fails; the others are carried out
 */
export async function runChanges(session: Session, changes: readonly Change[], options: ChangeOptions): Promise<void> {
  if (options.dryRun) return showPlans(session, changes);
  if (!options.yes) await obtainConsent(session, changes);
  const outcomes: Outcome[] = [];
  let failure: ClientError | undefined;
  for (const change of changes) {
    try {
      const result = await change.run();
      outcomes.push({ target: change.target, ...result, ...(await waited(session, result, options)) });
    } catch (error) {
      if (!(error instanceof ClientError) || error.exitCode === EXIT_CODES.interrupted) throw error;
      if (changes.length === 1) throw error;
      failure ??= error;
      outcomes.push({ target: change.target, status: 'error', error: error.message, code: error.code });
      session.output.note(`${change.title}: ${errorLine(error)}`);
    }
  }
  for (const { target, warnings = [] } of outcomes)
    for (const text of warnings) session.output.note(`${target}: ${text}`);
  await session.output.list(outcomes, {
    nameOf: ({ target }) => target,
    columns: [
      { title: 'TARGET', of: ({ target }) => target },
      { title: 'STATUS', of: ({ status }) => status },
      { title: 'TASK', of: ({ task }) => task },
    ],
  });
  if (failure) throw new ClientError('PARTLY_FAILED', 'Some of the changes have failed.', failure.exitCode);
}

async function waited(session: Session, { task }: ChangeResult, { wait }: ChangeOptions): Promise<Partial<Outcome>> {
  if (!wait || task === undefined) return {};
  const ended = await followTask(await session.api(), session.environment, task);
  if (ended.status === 'error') throw taskFailure(ended);
  return { status: 'done' };
}

async function showPlans(session: Session, changes: readonly Change[]): Promise<void> {
  const plans = await planAll(changes);
  await session.output.value(
    plans.map(({ change, plan }) => ({ target: change.target, ...plan })),
    () => plans.map(({ change, plan }) => formatPlan(change.title, plan)).join(''),
  );
  expectNoRefusals(plans);
}

interface Planned {
  readonly change: Change;
  readonly plan: ShownPlan;
}

/** One after the other: a service that is asked for many plans at once has its other users wait. */
async function planAll(changes: readonly Change[]): Promise<Planned[]> {
  const plans: Planned[] = [];
  for (const change of changes) plans.push({ change, plan: await change.plan() });
  return plans;
}

function expectNoRefusals(plans: readonly Planned[]): void {
  const refused = plans.filter(({ plan }) => plan.refusals.length > 0);
  const [first] = refused;
  if (!first) return;
  const { reason, code, remedy } = first.plan.refusals[0]!;
  throw new ClientError(code, `${first.change.title}: ${reason} ${remedy}`.trim(), EXIT_CODES.refused);
}

async function obtainConsent(session: Session, changes: readonly Change[]): Promise<void> {
  const plans = await planAll(changes);
  expectNoRefusals(plans);
  const disruptive = plans.filter(({ change, plan }) => change.isDisruptive || isDisruptive(plan));
  if (disruptive.length === 0) return;
  const titles = disruptive.map(({ change }) => change.title).join(', ');
  if (!canAsk(session.environment))
    throw new ClientError(
      'NOT_CONFIRMED',
      `${titles}: this interrupts or destroys something, and there is no terminal to ask. See its plan with --dry-run, and confirm it with --yes.`,
      EXIT_CODES.refused,
    );
  session.environment.stderr.write(plans.map(({ change, plan }) => formatPlan(change.title, plan)).join(''));
  if (!(await ask(session.environment, 'Go ahead?')))
    throw new ClientError('DECLINED', 'Nothing was changed.', EXIT_CODES.failed);
}
