import {
  ADMINISTRATOR,
  DomainError,
  MESSAGE_KINDS,
  SILENT_LOG,
  type Caller,
  type Message,
  type MessageChannel,
  type MessageRule,
  type Replicas,
} from '@headgate/domain-contracts';
import { FixedClock, MemoryMessageChannelStore, MemoryMessageRuleStore } from '@headgate/testing';
import { MessageDispatcher } from '../message-dispatcher.js';
import { MessageSender, type OutgoingMessage, type SendOutcome } from '../message-sender.js';
import type { Condition, ConditionState, FailedWork } from '../message-sources.js';
import { newRuleState } from '../rule-state.js';

export const START = Date.parse('2026-01-01T00:00:00.000Z');
export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

export const buildChannel = (more: Partial<MessageChannel> = {}): MessageChannel => ({
  owner: 'root',
  id: 'channel',
  name: 'Mail',
  shared: true,
  target: { kind: 'ntfy', server: 'https://ntfy.example.org', topic: 'ops', token: 'tk_secret' },
  createdAt: new Date(START).toISOString(),
  changedAt: new Date(START).toISOString(),
  ...more,
});

export const buildRule = (more: Partial<MessageRule> = {}): MessageRule => ({
  owner: 'ann',
  id: 'rule',
  name: 'Everything',
  enabled: true,
  channel: 'channel',
  minSeverity: 'info',
  kinds: MESSAGE_KINDS,
  delivery: 'immediately',
  digestAt: '07:00',
  timeZone: 'UTC',
  createdAt: new Date(START).toISOString(),
  changedAt: new Date(START).toISOString(),
  state: newRuleState(new Date(START).toISOString()),
  ...more,
});

export const buildCondition = (name: string, more: Partial<Condition> = {}): Condition => ({
  source: 'instances/lab',
  key: `instance/${name}`,
  kind: 'instance',
  severity: 'error',
  title: `${name} (lab)`,
  detail: 'It crashed.',
  ref: `vm/lab/default/${name}`,
  ...more,
});

/** A receiver that accepts, refuses and loses messages as a test decides. */
export class ManualSender extends MessageSender {
  readonly sent: OutgoingMessage[] = [];
  readonly targets: MessageChannel['target'][] = [];
  outcome: SendOutcome | (() => Promise<SendOutcome>) = { result: 'sent', reason: '' };

  override async send({ target }: MessageChannel, message: OutgoingMessage): Promise<SendOutcome> {
    this.sent.push(message);
    this.targets.push(target);
    return typeof this.outcome === 'function' ? this.outcome() : this.outcome;
  }

  override check(): void {
    // Every target is allowed.
  }
}

/** What processes share: the store, the world that they watch, and the receiver. */
export class MessageWorld {
  readonly clock = new FixedClock(START);
  readonly rules = new MemoryMessageRuleStore();
  readonly channels = new MemoryMessageChannelStore();
  readonly sender = new ManualSender();
  readonly conditions = new Map<string, Condition>();
  readonly failed: FailedWork[] = [];
  /** The sources that can't be seen at the moment. */
  readonly unseen = new Set<string>();
  sources = ['instances/lab', 'contexts', 'health'];
  /** Which instances the owner may read. */
  readable = (_ref: string): boolean => true;
  refusal: DomainError | undefined;
  refreshes = 0;

  async fill(...rules: readonly MessageRule[]): Promise<void> {
    await this.channels.put(buildChannel());
    for (const rule of rules.length === 0 ? [buildRule()] : rules) await this.rules.put(rule);
  }

  open(replicas: Pick<Replicas, 'subscribe'>, rules = this.rules): MessageDispatcher {
    const { clock, channels, sender } = this;
    const dispatcher = new MessageDispatcher({
      rules,
      channels,
      sources: {
        observe: () => this.observe(),
        refresh: async () => void this.refreshes++,
        subscribe: () => () => undefined,
      },
      owners: {
        callerOf: ({ owner }): Caller => {
          if (this.refusal) throw this.refusal;
          return { login: owner, name: '', grant: ADMINISTRATOR };
        },
      },
      sender,
      times: {
        lastDigest: (at, _zone, since, until) => last(at, since, until),
        nextDigest: (at, _zone, after) => last(at, after, after + DAY_MS),
      },
      replicas,
      clock,
      log: SILENT_LOG,
    });
    dispatcher.start();
    return dispatcher;
  }

  /** Lets a problem begin or end. */
  set(condition: Condition, exists = true): void {
    if (exists) this.conditions.set(condition.key, condition);
    else this.conditions.delete(condition.key);
  }

  messages(id = 'rule'): readonly Message[] {
    return this.rules.all().find((one) => one.id === id)?.state.messages ?? [];
  }

  subjects(): string[] {
    return this.sender.sent.map(({ subject }) => subject);
  }

  private observe() {
    const isSeen = (source: string): boolean => this.sources.includes(source) && !this.unseen.has(source);
    const mayRead = (ref: string | undefined): boolean => ref === undefined || this.readable(ref);
    return {
      sources: this.sources.filter(isSeen),
      existing: this.sources,
      conditions: [...this.conditions.values()].filter(({ source, ref }) => isSeen(source) && mayRead(ref)),
      stateOf: ({ key, ref, kind }: { key: string; ref?: string; kind: string }): ConditionState => {
        if (!mayRead(ref)) return 'hidden';
        const source = kind === 'instance' ? 'instances/lab' : kind === 'context' ? 'contexts' : 'health';
        if (!isSeen(source)) return 'unknown';
        return this.conditions.has(key) ? 'open' : 'ended';
      },
      failed: this.failed.filter(({ ref }) => mayRead(ref)),
      mayRead: (ref: string) => mayRead(ref),
    };
  }
}

/** The last `HH:MM` in UTC of two moments. */
function last(at: string, since: number, until: number): number | undefined {
  const time = Date.parse(`${new Date(until).toISOString().slice(0, 10)}T${at}:00.000Z`);
  return [time, time - DAY_MS].find((one) => one > since && one <= until);
}

/** Lets everything happen that needs no time to pass. */
export async function settle(...dispatchers: readonly MessageDispatcher[]): Promise<void> {
  for (let round = 0; round < 20; round++) {
    for (const dispatcher of dispatchers) await dispatcher.settled();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Lets time pass in steps, so that timers that were set meanwhile run. */
export async function pass(
  world: MessageWorld,
  ms: number,
  ...dispatchers: readonly MessageDispatcher[]
): Promise<void> {
  const STEP_MS = Math.max(5000, ms / 60);
  for (let rest = ms; rest > 0; rest -= STEP_MS) {
    world.clock.advance(Math.min(rest, STEP_MS));
    for (const dispatcher of dispatchers) dispatcher.wake();
    await settle(...dispatchers);
  }
}
