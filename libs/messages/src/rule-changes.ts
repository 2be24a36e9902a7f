import { randomUUID } from 'node:crypto';
import {
  buildPlan,
  Change,
  definedFields,
  DomainError,
  type Audit,
  type Caller,
  type Clock,
  type Message,
  type MessageChannelStore,
  type MessageRule,
  type MessageRuleState,
  type MessageRuleStore,
  type Plan,
} from '@headgate/domain-contracts';
import type { MessageDispatcher } from './message-dispatcher.js';
import { expectQuietHours, type MessageTimes } from './message-times.js';
import { newRuleState } from './rule-state.js';
import { findRule, usableChannels } from './visible.js';

export const MAX_RULES_PER_OWNER = 20;
/** Of all owners together. */
export const MAX_RULES = 200;

/** The fields of a rule that its user chooses. */
export type RuleRequest = Omit<MessageRule, 'owner' | 'id' | 'token' | 'createdAt' | 'changedAt' | 'state'>;

export type RuleUpdate = {
  readonly [Field in keyof RuleRequest]?: Field extends 'folder' | 'q' | 'quietHours'
    ? RuleRequest[Field] | null
    : RuleRequest[Field];
};

export interface RuleDeps {
  readonly rules: MessageRuleStore;
  readonly channels: MessageChannelStore;
  readonly dispatcher: Pick<MessageDispatcher, 'wake'>;
  readonly times: MessageTimes;
  readonly clock: Clock;
  readonly audit: Audit;
  /** @throws DomainError INVALID_INPUT for a query that can't be understood */
  readonly expectQuery: (q: string) => void;
}

const subjectOf = ({ id }: MessageRule): string => `message-rule/${id}`;

/** Creates a rule of its caller. It sends nothing about problems that exist already. */
export class CreateRule extends Change<[caller: Caller, request: RuleRequest], MessageRule, MessageRule> {
  constructor(private readonly deps: RuleDeps) {
    super();
  }

  /** @throws DomainError INVALID_INPUT, ALREADY_EXISTS, MESSAGE_CHANNEL_NOT_FOUND, CONFLICT when there are too many */
  protected override prepare(caller: Caller, request: RuleRequest): MessageRule {
    const { rules, clock } = this.deps;
    const { login: owner, token } = caller;
    const now = clock.iso();
    const times = { createdAt: now, changedAt: now, state: newRuleState(now) };
    const rule = { owner, id: randomUUID(), ...(token !== undefined && { token }), ...request, ...times };
    expectPossible(rule, caller, this.deps, true);
    if (rules.of(owner).length >= MAX_RULES_PER_OWNER)
      throw new DomainError('CONFLICT', `You have ${MAX_RULES_PER_OWNER} rules already; delete one of them.`);
    if (rules.count() >= MAX_RULES)
      throw new DomainError('CONFLICT', `The service has ${MAX_RULES} rules already; delete some of them.`);
    return rule;
  }

  protected override async planPrepared(rule: MessageRule): Promise<Plan> {
    return planOf('create rule', rule);
  }

  protected override async runPrepared(rule: MessageRule, caller: Caller): Promise<MessageRule> {
    const { rules, audit, dispatcher } = this.deps;
    const put = (): Promise<void> => rules.put(rule);
    await audit.of(caller, 'create message rule', subjectOf(rule), put, () => describe(rule));
    dispatcher.wake();
    return rule;
  }
}

interface PreparedUpdate {
  readonly rule: MessageRule;
  readonly update: RuleUpdate;
}

/**
 * Changes a rule. If it is about other events then, or was disabled, it sees events from now on. Messages that wait
 * when it is disabled are not sent.
 */
export class UpdateRule extends Change<[caller: Caller, id: string, update: RuleUpdate], MessageRule, PreparedUpdate> {
  constructor(private readonly deps: RuleDeps) {
    super();
  }

  /** @throws DomainError MESSAGE_RULE_NOT_FOUND, also for one that the caller may not see; those of a new one */
  protected override prepare(caller: Caller, id: string, request: RuleUpdate): PreparedUpdate {
    const update = definedFields(request) as RuleUpdate;
    const found = findRule(this.deps.rules, id, caller);
    const rule = this.merge(found, update);
    expectPossible(rule, caller, this.deps, rule.channel !== found.channel);
    return { rule, update };
  }

  protected override async planPrepared({ rule }: PreparedUpdate): Promise<Plan> {
    return planOf('change rule', rule);
  }

  protected override async runPrepared({ rule, update }: PreparedUpdate, caller: Caller): Promise<MessageRule> {
    const { rules, audit, dispatcher } = this.deps;
    const { owner, id } = rule;
    const changed = await audit.of(
      caller,
      'change message rule',
      subjectOf(rule),
      async () => {
        const stored = await rules.change(owner, id, (latest) => this.merge(latest, update));
        if (!stored) throw new DomainError('MESSAGE_RULE_NOT_FOUND', `There is no rule ${id}.`);
        return stored;
      },
      describe,
    );
    dispatcher.wake();
    return changed;
  }

  private merge(found: MessageRule, update: RuleUpdate): MessageRule {
    const now = this.deps.clock.iso();
    const merged = Object.fromEntries(
      Object.entries({ ...found, ...update }).filter(([, value]) => value !== null),
    ) as unknown as MessageRule;
    return { ...merged, changedAt: now, state: stateAfter(found, merged, now) };
  }
}

/** Deletes a rule. Its messages that were not delivered yet are not sent. */
export class DeleteRule extends Change<[caller: Caller, id: string], void, MessageRule> {
  constructor(private readonly deps: RuleDeps) {
    super();
  }

  /** @throws DomainError MESSAGE_RULE_NOT_FOUND, also for one that the caller may not see */
  protected override prepare(caller: Caller, id: string): MessageRule {
    return findRule(this.deps.rules, id, caller);
  }

  protected override async planPrepared(rule: MessageRule): Promise<Plan> {
    return planOf('delete rule', rule);
  }

  protected override async runPrepared(rule: MessageRule, caller: Caller): Promise<void> {
    const { rules, audit } = this.deps;
    const remove = async (): Promise<void> => void (await rules.delete(rule.owner, rule.id));
    await audit.of(caller, 'delete message rule', subjectOf(rule), remove, () => rule.name);
  }
}

/** A rule about other events must not report problems as new that it has not looked at before. */
function stateAfter(found: MessageRule, merged: MessageRule, now: string): MessageRuleState {
  const { state } = found;
  const isOther =
    merged.folder !== found.folder ||
    merged.q !== found.q ||
    merged.minSeverity !== found.minSeverity ||
    merged.kinds.join() !== found.kinds.join();
  const isEnabled = merged.enabled && !found.enabled;
  const latest = (time: string): string => (time > now ? time : now);
  const reset = isOther || isEnabled || !merged.enabled;
  // A clock that was set back must not repeat digests and work.
  const next = reset
    ? { ...newRuleState(now), digestAfter: latest(state.digestAfter), endedUntil: latest(state.endedUntil) }
    : state;
  const isOtherTime = merged.digestAt !== found.digestAt || merged.timeZone !== found.timeZone;
  return {
    ...next,
    ...(isOtherTime && { digestAfter: latest(state.digestAfter) }),
    messages: merged.enabled ? state.messages : state.messages.map((message) => givenUp(message, now)),
  };
}

const givenUp = (message: Message, now: string): Message =>
  message.status === 'waiting'
    ? { ...message, status: 'failed', text: '', endedAt: now, nextAttemptAt: null, reason: 'The rule was disabled.' }
    : message;

/** @throws DomainError INVALID_INPUT, ALREADY_EXISTS, MESSAGE_CHANNEL_NOT_FOUND */
function expectPossible(rule: MessageRule, caller: Caller, deps: RuleDeps, hasNewChannel: boolean): void {
  const { rules, channels, times, clock, expectQuery } = deps;
  if (rules.of(rule.owner).some(({ id, name }) => name === rule.name && id !== rule.id))
    throw new DomainError('ALREADY_EXISTS', `name: there is a rule "${rule.name}" already; choose another name.`);
  if (hasNewChannel && !usableChannels(channels, caller).some(({ id }) => id === rule.channel))
    throw new DomainError('MESSAGE_CHANNEL_NOT_FOUND', `channel: there is no channel ${rule.channel.slice(0, 40)}.`);
  times.nextDigest(rule.digestAt, rule.timeZone, clock.now());
  if (rule.quietHours) expectQuietHours(rule.quietHours);
  if (rule.q !== undefined) expectQuery(rule.q);
}

const describe = ({ name, kinds, minSeverity, delivery, enabled }: MessageRule): string =>
  `${name}: ${kinds.join(', ')} from ${minSeverity}, ${delivery}${enabled ? '' : ', disabled'}`;

const planOf = (step: string, rule: MessageRule): Plan => buildPlan([{ name: step, detail: describe(rule) }]);
