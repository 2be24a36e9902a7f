import { randomUUID } from 'node:crypto';
import {
  DomainError,
  formatRef,
  messageOf,
  plainText,
  type AnyPlan,
  type Audit,
  type Caller,
  type Clock,
  type InstanceDirectory,
  type InstanceIdentity,
  type JsonObject,
} from '@headgate/domain-contracts';
import type { Agents } from './agents.js';
import type { Budgets } from './budgets.js';
import { hashOf } from './canonical-json.js';
import { CommittedWork } from './committed-work.js';
import { changedRefs, differencesOf, expectComplete, isRefused, planChanged, plansByRef } from './compare-plans.js';
import { noteOf, refsOf, subjectOf, targetDifferences } from './describe-rehearsal.js';
import { KeptRehearsals, MAX_WAITING_PER_TOKEN, rehearsalNotFound } from './kept-rehearsals.js';
import type { Rehearsable } from './rehearsable.js';
import type { KeptRehearsal, Rehearsal } from './rehearsal.js';
import type { TwinOutcome } from './twin-outcome.js';

export const REHEARSAL_MS = 5 * 60_000;
export const APPROVAL_MS = 30 * 60_000;
export const MAX_TARGETS = 1000;
export const MAX_REASON_CHARS = 300;

export interface RehearsalsDeps {
  readonly agents: Agents;
  readonly budgets: Budgets;
  readonly directory: Pick<InstanceDirectory, 'get' | 'resolve'>;
  readonly audit: Pick<Audit, 'append'>;
  readonly clock: Clock;
}

export interface CommitRequest {
  readonly id: string;
  readonly hash: string;
  /** The words of the agent, for the journal. */
  readonly reason: string;
}

/** A change of certain instances, as it would be carried out. */
export interface PlannedChange {
  readonly targets: readonly InstanceIdentity[];
  readonly plan: AnyPlan;
  /** Whether something of it would be carried out. */
  readonly isCommittable: boolean;
}

/** Where the request of an agent came from. */
type Origin = Pick<Caller, 'origin'>;

/**
 * The only way in which a token with a leash changes anything: it rehearses a change, and commits the hash of the plan.
 * A commit is carried out once, soon, for the same token, and only if a fresh plan, built with the reservation of
 * the change, is the rehearsed one.
 */
export class Rehearsals {
  private readonly kept: KeptRehearsals;
  private readonly recorded = new WeakSet<object>();
  /** Ends the following of the tokens whose commits wait. */
  private readonly followed = new Map<string, () => void>();

  constructor(private readonly deps: RehearsalsDeps) {
    this.kept = new KeptRehearsals(deps.clock);
  }

  /** Plans a change, and keeps the plan for a commit. @throws DomainError why the change is impossible */
  async rehearse(rehearsable: Rehearsable, token: string): Promise<Rehearsal> {
    const agent = this.deps.agents.get(token);
    const { targets, plan, isCommittable } = await this.plan(rehearsable, agent.caller);
    const plans = plansByRef(plan, targets);
    const { action, request, isDestructive } = rehearsable;
    const view: Rehearsal = {
      id: randomUUID(),
      token,
      tokenName: agent.name,
      action,
      isDestructive,
      targets,
      changes: changedRefs(plan, targets).length,
      plan,
      hash: isCommittable ? hashOf({ token, action, request, targets, plans: [...plans] }) : undefined,
      status: 'ready',
      expiresAt: this.deps.clock.now() + REHEARSAL_MS,
      reason: '',
    };
    if (isCommittable) this.kept.add({ view, rehearsable, plans });
    return view;
  }

  /** The plan of a change and its targets, which nothing keeps. @throws DomainError why the change is impossible */
  async plan(rehearsable: Rehearsable, caller: Caller): Promise<PlannedChange> {
    const targets = this.targetsOf(rehearsable, caller);
    const plan = await rehearsable.bind(refsOf(targets)).plan();
    expectComplete(plan);
    return { targets, plan, isCommittable: !isRefused(plan) };
  }

  /**
   * Keeps what a simulation has shown, for those who approve the commit. It does not change the hash.
   * @throws DomainError REHEARSAL_NOT_FOUND
   */
  attach(id: string, token: string, twin: TwinOutcome): Rehearsal {
    const kept = this.own(id, token);
    kept.view = { ...kept.view, twin };
    return kept.view;
  }

  /**
   * Carries out the rehearsed change, or keeps it until a user approves it.
   * @throws DomainError REHEARSAL_NOT_FOUND, CONFLICT for one that was committed before, PLAN_CHANGED,
   *   BUDGET_EXHAUSTED, and the errors of the change
   */
  async commit({ id, hash, reason }: CommitRequest, token: string, origin: Origin = {}): Promise<Rehearsal> {
    const kept = this.own(id, token);
    const { view } = kept;
    const { leash } = this.deps.agents.get(token);
    if (hash !== view.hash) throw new DomainError('CONFLICT', `hash is not the hash of the rehearsal ${id}.`);
    if (view.status !== 'ready') throw new DomainError('CONFLICT', `The rehearsal ${id} was already committed.`);
    const committed = { reason: plainText(reason, MAX_REASON_CHARS), committedAt: this.deps.clock.now() };
    if (leash.approval === 'all' || (leash.approval === 'destructive' && view.isDestructive)) {
      this.expectFewWaiting(token);
      const expiresAt = this.deps.clock.now() + APPROVAL_MS;
      kept.view = { ...view, ...committed, status: 'waiting', expiresAt };
      this.follow(token);
      return kept.view;
    }
    kept.view = { ...view, ...committed, status: 'running' };
    return this.run(kept, origin);
  }

  /** A rehearsal of a token. @throws DomainError REHEARSAL_NOT_FOUND, also for one of another token */
  read(id: string, token: string): Rehearsal {
    return this.own(id, token).view;
  }

  /** The commits that wait for an approval of this caller: those that they may do themselves. The oldest first. */
  waitingFor(caller: Caller): Rehearsal[] {
    return this.kept
      .list()
      .filter((kept) => kept.view.status === 'waiting' && mayDecide(kept, caller))
      .map(({ view }) => view);
  }

  /**
   * Carries out a commit that waits.
   * @throws DomainError APPROVAL_NOT_FOUND, also for those who may not do it themselves; and what `commit` throws
   */
  async approve(id: string, approver: Caller): Promise<Rehearsal> {
    const kept = this.waiting(id, approver);
    // In the same turn as the check: of two approvals, one finds it.
    this.record(approver, kept.view, 'approve commit');
    kept.view = { ...kept.view, status: 'running', decidedBy: approver.login };
    return this.run(kept, {});
  }

  /** @throws DomainError APPROVAL_NOT_FOUND */
  reject(id: string, approver: Caller): Rehearsal {
    const kept = this.waiting(id, approver);
    this.record(approver, kept.view, 'reject commit');
    kept.view = { ...kept.view, status: 'rejected', decidedBy: approver.login };
    return kept.view;
  }

  /** Cancels everything of a token that was not begun, because it was stopped or revoked. @returns how many waited */
  cancel(token: string): number {
    const open = this.kept
      .list()
      .filter(({ view }) => view.token === token && (view.status === 'waiting' || view.status === 'ready'));
    const waiting = open.filter(({ view }) => view.status === 'waiting').length;
    for (const kept of open) kept.view = { ...kept.view, status: 'canceled' };
    return waiting;
  }

  /** How many commits of each token wait for an approval. */
  countWaiting(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { view } of this.kept.list())
      if (view.status === 'waiting') counts.set(view.token, (counts.get(view.token) ?? 0) + 1);
    return counts;
  }

  /** Follows no token any more. */
  close(): void {
    for (const stop of this.followed.values()) stop();
    this.followed.clear();
  }

  /** A commit that waits ends with its token, so that no one is asked for an approval that would be refused. */
  private follow(token: string): void {
    if (this.followed.has(token)) return;
    let isOver = false;
    const stop = this.deps.agents.follow(token, () => {
      isOver = true;
      this.followed.delete(token);
      this.checkFollowed(token);
    });
    if (!isOver) this.followed.set(token, stop);
  }

  private checkFollowed(token: string): void {
    if (!this.countWaiting().has(token)) return;
    try {
      this.deps.agents.get(token);
    } catch {
      // Also one that can't be checked: it may have been revoked.
      this.cancel(token);
      return;
    }
    this.follow(token);
  }

  private own(id: string, token: string): KeptRehearsal {
    const kept = this.kept.get(id);
    if (kept.view.token === token) return kept;
    throw rehearsalNotFound(id);
  }

  private waiting(id: string, caller: Caller): KeptRehearsal {
    const kept = this.kept.list().find(({ view }) => view.id === id && view.status === 'waiting');
    if (kept && mayDecide(kept, caller)) return kept;
    throw new DomainError('APPROVAL_NOT_FOUND', `No commit ${id.slice(0, 40)} waits for your approval.`);
  }

  private async run(kept: KeptRehearsal, origin: Origin): Promise<Rehearsal> {
    const { view } = kept;
    try {
      const task = await this.carryOut(kept, origin);
      kept.view = { ...kept.view, status: 'done', ...(task !== undefined && { task }) };
      return kept.view;
    } catch (error) {
      const details = DomainError.is(error) ? (error.details as JsonObject | undefined) : undefined;
      kept.view = {
        ...kept.view,
        status: 'failed',
        error: messageOf(error),
        ...(details !== undefined && { errorDetails: details }),
      };
      this.recordRefusal(view, subjectOf(view), error, origin);
      throw error;
    }
  }

  private async carryOut({ view, rehearsable, plans }: KeptRehearsal, origin: Origin): Promise<string | undefined> {
    const { agents, budgets } = this.deps;
    const { token, action } = view;
    const agent = agents.get(token);
    const chosen = this.targetsOf(rehearsable, agent.caller);
    const change = rehearsable.bind(refsOf(view.targets));
    const fresh = plansByRef(await change.plan(), view.targets);
    const differences = [...targetDifferences(view.targets, chosen), ...differencesOf(plans, fresh)];
    if (differences.length > 0) throw planChanged(action, differences);
    const { leash, name } = agents.get(token);
    budgets.take({ token, name, leash, refs: changedRefs(view.plan, view.targets), into: rehearsable.into });
    const rehearsed = new CommittedWork({
      action,
      note: noteOf(view),
      targets: view.targets,
      plans,
      expectActive: () => void agents.get(token),
      onRefused: (ref, error) => this.recordRefusal(view, ref, error, origin),
    });
    return change.run({ ...agent.caller, ...origin, rehearsed });
  }

  private targetsOf(rehearsable: Rehearsable, caller: Caller): InstanceIdentity[] {
    const refs = rehearsable.choose(caller);
    const unique = [...new Map(refs.map((ref) => [formatRef(ref), ref])).entries()].sort(([a], [b]) =>
      a < b ? -1 : 1,
    );
    if (unique.length === 0) throw new DomainError('INVALID_INPUT', 'No instance matches.');
    if (unique.length > MAX_TARGETS)
      throw new DomainError('INVALID_INPUT', `${unique.length} instances match; choose at most ${MAX_TARGETS}.`);
    const targets = unique.map(([text, ref]) => ({
      ref: text,
      uid: (this.deps.directory.get(ref) ?? this.deps.directory.resolve(ref)).uid,
    }));
    rehearsable.expectAllowed(
      caller.grant,
      unique.map(([, ref]) => ref),
    );
    return targets;
  }

  private expectFewWaiting(token: string): void {
    const waiting = this.kept.list().filter(({ view }) => view.token === token && view.status === 'waiting');
    if (waiting.length < MAX_WAITING_PER_TOKEN) return;
    throw new DomainError(
      'BUDGET_EXHAUSTED',
      `${waiting.length} commits of this token wait for an approval already; try again when they were decided.`,
    );
  }

  private record(approver: Caller, view: Rehearsal, action: string): void {
    const message = `${view.action}, ${view.targets.length} instances, for the agent ${view.tokenName}.`;
    this.deps.audit.append(approver, { action, ref: subjectOf(view), outcome: 'ok', message });
  }

  /** An entry of the requests, which have a share of the journal of their own: an agent may try for ever. */
  private recordRefusal(view: Rehearsal, ref: string, error: unknown, origin: Origin): void {
    if (typeof error !== 'object' || error === null || this.recorded.has(error)) return;
    this.recorded.add(error);
    const code = DomainError.is(error) ? error.code : 'INTERNAL';
    const message = `${messageOf(error)} ${noteOf(view)}`;
    const author = { login: '', name: view.tokenName, token: view.token, ...origin };
    this.deps.audit.append(author, { kind: 'request', action: 'commit', ref, outcome: 'error', code, message });
  }
}

/** An agent never decides, not even about the commits of another one. */
const mayDecide = ({ view, rehearsable }: KeptRehearsal, { grant }: Caller): boolean => {
  if (grant.kind === 'agent') return false;
  try {
    rehearsable.expectAllowed(grant, refsOf(view.targets));
    return true;
  } catch {
    return false;
  }
};
