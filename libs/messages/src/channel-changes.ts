import { randomUUID } from 'node:crypto';
import {
  buildPlan,
  Change,
  displayUrl,
  DomainError,
  type Audit,
  type Caller,
  type Clock,
  type MessageChannel,
  type MessageChannelStore,
  type MessageRuleStore,
  type MessageTarget,
  type Plan,
} from '@headgate/domain-contracts';
import type { MessageDispatcher } from './message-dispatcher.js';
import type { MessageSender, SendOutcome } from './message-sender.js';
import { expectTarget, mergeTarget, type TargetChange } from './merge-target.js';
import { findChannel } from './visible.js';

export const MAX_CHANNELS = 50;

export interface ChannelRequest {
  readonly name: string;
  readonly shared: boolean;
  readonly target: MessageTarget;
}

export interface ChannelDeps {
  readonly channels: MessageChannelStore;
  readonly rules: MessageRuleStore;
  readonly sender: MessageSender;
  readonly dispatcher: Pick<MessageDispatcher, 'wake'>;
  readonly clock: Clock;
  readonly audit: Audit;
}

const subjectOf = ({ id }: MessageChannel): string => `message-channel/${id}`;

/** Creates a channel. */
export class CreateChannel extends Change<[caller: Caller, request: ChannelRequest], MessageChannel, MessageChannel> {
  constructor(private readonly deps: ChannelDeps) {
    super();
  }

  /** @throws DomainError INVALID_INPUT, ALREADY_EXISTS, CONFLICT when there are too many */
  protected override prepare({ login: owner }: Caller, request: ChannelRequest): MessageChannel {
    const { channels, clock } = this.deps;
    const now = clock.iso();
    const channel = { owner, id: randomUUID(), ...request, createdAt: now, changedAt: now };
    expectPossible(channel, this.deps);
    if (channels.count() >= MAX_CHANNELS)
      throw new DomainError('CONFLICT', `There are ${MAX_CHANNELS} channels already; delete one that is not needed.`);
    return channel;
  }

  protected override async planPrepared(channel: MessageChannel): Promise<Plan> {
    return planOf('create channel', channel);
  }

  protected override async runPrepared(channel: MessageChannel, caller: Caller): Promise<MessageChannel> {
    const { channels, audit } = this.deps;
    await audit.of(
      caller,
      'create message channel',
      subjectOf(channel),
      () => channels.put(channel),
      () => describe(channel),
    );
    return channel;
  }
}

export interface ChannelUpdate {
  readonly name?: string;
  readonly shared?: boolean;
  readonly target?: TargetChange;
}

interface PreparedUpdate {
  readonly channel: MessageChannel;
  readonly update: ChannelUpdate;
}

/** Changes a channel. Its messages that wait are sent with the new settings. */
export class UpdateChannel extends Change<[id: string, update: ChannelUpdate], MessageChannel, PreparedUpdate> {
  constructor(private readonly deps: ChannelDeps) {
    super();
  }

  /** @throws DomainError MESSAGE_CHANNEL_NOT_FOUND; INVALID_INPUT, also for a kept secret with another server */
  protected override prepare(id: string, update: ChannelUpdate): PreparedUpdate {
    const channel = this.merge(findChannel(this.deps.channels, id), update);
    expectPossible(channel, this.deps);
    return { channel, update };
  }

  protected override async planPrepared({ channel }: PreparedUpdate): Promise<Plan> {
    return planOf('change channel', channel);
  }

  protected override async runPrepared(
    { channel: { owner, id, ...channel }, update }: PreparedUpdate,
    caller: Caller,
  ): Promise<MessageChannel> {
    const { channels, audit, dispatcher } = this.deps;
    const changed = await audit.of(
      caller,
      'change message channel',
      subjectOf({ owner, id, ...channel }),
      async () => {
        // Merged again: another change may have set another server meanwhile.
        const stored = await channels.change(owner, id, (latest) => this.merge(latest, update));
        if (!stored) throw new DomainError('MESSAGE_CHANNEL_NOT_FOUND', `There is no channel ${id}.`);
        return stored;
      },
      describe,
    );
    dispatcher.wake();
    return changed;
  }

  private merge(found: MessageChannel, { name, shared, target }: ChannelUpdate): MessageChannel {
    return {
      ...found,
      name: name ?? found.name,
      shared: shared ?? found.shared,
      target: target ? mergeTarget(found.target, target) : found.target,
      changedAt: this.deps.clock.iso(),
    };
  }
}

/** Deletes a channel that no rule uses. */
export class DeleteChannel extends Change<[id: string], void, MessageChannel> {
  constructor(private readonly deps: ChannelDeps) {
    super();
  }

  /** @throws DomainError MESSAGE_CHANNEL_NOT_FOUND; CONFLICT while a rule uses it */
  protected override prepare(id: string): MessageChannel {
    const { channels, rules } = this.deps;
    const found = findChannel(channels, id);
    const uses = rules.all().filter(({ channel }) => channel === id).length;
    if (uses > 0)
      throw new DomainError(
        'CONFLICT',
        `The channel ${found.name} is used by ${uses} rules; delete them, or choose another channel in them, first.`,
      );
    return found;
  }

  protected override async planPrepared(channel: MessageChannel): Promise<Plan> {
    return planOf('delete channel', channel);
  }

  protected override async runPrepared(channel: MessageChannel, caller: Caller): Promise<void> {
    const { channels, audit } = this.deps;
    await audit.of(
      caller,
      'delete message channel',
      subjectOf(channel),
      async () => void (await channels.delete(channel.owner, channel.id)),
      () => channel.name,
    );
  }
}

/** Sends one message to a channel, to find out whether it works. */
export class TestChannel {
  constructor(private readonly deps: ChannelDeps) {}

  /** @throws DomainError MESSAGE_CHANNEL_NOT_FOUND */
  async run(id: string, caller: Caller, signal: AbortSignal): Promise<SendOutcome> {
    const { channels, sender, audit, clock } = this.deps;
    const channel = findChannel(channels, id);
    const message = {
      id: randomUUID().replaceAll('-', ''),
      severity: 'info',
      subject: `[Headgate] Test of the channel ${channel.name}`,
      text: 'This message was sent to test the channel. It needs no answer.\n',
      createdAt: clock.iso(),
      signal,
    } as const;
    return audit.of(
      caller,
      'test message channel',
      subjectOf(channel),
      () => sender.send(channel, message),
      ({ result, reason }) => (result === 'sent' ? `${channel.name}: sent` : `${channel.name}: ${reason}`),
    );
  }
}

/** @throws DomainError INVALID_INPUT, ALREADY_EXISTS */
function expectPossible(channel: MessageChannel, { channels, sender }: ChannelDeps): void {
  if (channels.all().some(({ id, name }) => name === channel.name && id !== channel.id))
    throw new DomainError('ALREADY_EXISTS', `name: there is a channel "${channel.name}" already; choose another name.`);
  expectTarget(channel.target);
  sender.check(channel.target);
}

function placeOf(target: MessageTarget): string {
  if (target.kind === 'mail') return `${target.recipients.length} recipients over ${target.host}:${target.port}`;
  return target.kind === 'ntfy' ? `a topic of ${displayUrl(target.server)}` : `the webhook ${target.webhook}`;
}

/** Without secrets. The name of a topic of ntfy may be one. */
const describe = ({ name, shared, target }: MessageChannel): string =>
  `${name}: ${target.kind} to ${placeOf(target)}${shared ? ', for all users' : ''}`;

const planOf = (step: string, channel: MessageChannel): Plan => buildPlan([{ name: step, detail: describe(channel) }]);
