import {
  DomainError,
  messageOf,
  type Caller,
  type Clock,
  type Log,
  type MessageChannelStore,
  type MessageRule,
  type MessageRuleStore,
  type Replicas,
} from '@headgate/domain-contracts';
import { consider } from './consider.js';
import { Deliveries } from './deliveries.js';
import type { MessageSender } from './message-sender.js';
import type { MessageOwners, MessageSources, Observation } from './message-sources.js';
import type { MessageTimes } from './message-times.js';
import { write } from './outbox.js';
import { usableChannels } from './visible.js';

const SECOND_MS = 1000;
/** Also notices the changes of other replicas and of the clock. */
const MAX_WAIT_MS = 15 * SECOND_MS;
/** Changes come in groups, and a round looks at all rules. */
const MIN_WAIT_MS = SECOND_MS;
/** How often sources that report no changes are read, while there are rules. */
export const REFRESH_MS = 120 * SECOND_MS;

export interface MessageDispatcherDeps {
  readonly rules: MessageRuleStore;
  readonly channels: MessageChannelStore;
  readonly sources: MessageSources;
  readonly owners: MessageOwners;
  readonly sender: MessageSender;
  readonly times: MessageTimes;
  readonly replicas: Pick<Replicas, 'subscribe'>;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Writes and sends the messages of all rules, in the leader of the replicas. Each rule has what it has seen, what it
 * will send and what it has sent in one object: so each event is in one message, whenever a process is killed.
 */
export class MessageDispatcher {
  private readonly deliveries: Deliveries;
  private readonly reported = new Map<string, string>();
  private term: AbortController | undefined;
  private isReady = false;
  private hasNews = false;
  private refreshedAt = -Infinity;
  private refreshing: Promise<void> | undefined;
  private round: Promise<void> | undefined;
  private cancelTimer = (): void => undefined;
  private readonly unsubscribers: (() => void)[] = [];

  constructor(private readonly deps: MessageDispatcherDeps) {
    this.deliveries = new Deliveries({ ...deps, onPause: () => this.wake() });
  }

  /** Call once, when the store is open and the instances are known. */
  start(): void {
    const { replicas, sources } = this.deps;
    this.isReady = true;
    this.unsubscribers.push(
      sources.subscribe(() => this.wakeSoon()),
      replicas.subscribe({
        elected: () => {
          this.term = new AbortController();
          this.refreshedAt = -Infinity;
          this.wake();
        },
        deposed: () => this.endTerm(),
      }),
    );
  }

  /** Looks at all rules again, because one of them has changed. */
  wake(): void {
    if (!this.term || !this.isReady) return;
    this.hasNews = true;
    this.round ??= this.runRounds(this.term.signal).finally(() => {
      this.round = undefined;
      if (this.hasNews) this.wake();
    });
  }

  /** Resolves when a round that goes on has ended. */
  async settled(): Promise<void> {
    await this.round;
  }

  async close(): Promise<void> {
    this.isReady = false;
    for (const unsubscribe of this.unsubscribers) unsubscribe();
    this.endTerm();
    await this.round;
  }

  private endTerm(): void {
    this.term?.abort();
    this.term = undefined;
    this.hasNews = false;
    this.cancelTimer();
  }

  private wakeSoon(): void {
    if (this.term && !this.round) this.wakeAfter(MIN_WAIT_MS);
    else this.hasNews = this.term !== undefined;
  }

  private wakeAfter(ms: number): void {
    this.cancelTimer();
    this.cancelTimer = this.deps.clock.after(ms, () => this.wake());
  }

  private async runRounds(signal: AbortSignal): Promise<void> {
    // What woke it may write only after it was awake.
    await Promise.resolve();
    let next = Infinity;
    while (this.hasNews && !signal.aborted) {
      this.hasNews = false;
      next = await this.runRound(signal);
    }
    if (signal.aborted) return;
    const now = this.deps.clock.now();
    this.wakeAfter(Math.max(MIN_WAIT_MS, Math.min(next - now, MAX_WAIT_MS)));
  }

  /** @returns when to look again, in milliseconds since the epoch */
  private async runRound(signal: AbortSignal): Promise<number> {
    const rules = this.deps.rules.all();
    const ids = new Set(rules.map(({ id }) => id));
    for (const id of this.reported.keys()) if (!ids.has(id)) this.reported.delete(id);
    if (rules.some(({ enabled }) => enabled)) this.refresh();
    let next = Infinity;
    for (const rule of rules) {
      if (signal.aborted) break;
      try {
        next = Math.min(next, await this.look(rule, signal));
        this.reported.delete(rule.id);
      } catch (error) {
        this.report(rule, messageOf(error));
      }
    }
    return next;
  }

  /** A context that hangs delays no message about others. */
  private refresh(): void {
    const { clock, sources } = this.deps;
    const now = clock.now();
    const isDue = now - this.refreshedAt >= REFRESH_MS || now < this.refreshedAt;
    if (!isDue || this.refreshing) return;
    this.refreshedAt = now;
    this.refreshing = sources.refresh().finally(() => {
      this.refreshing = undefined;
      this.wake();
    });
  }

  private async look(rule: MessageRule, signal: AbortSignal): Promise<number> {
    if (!rule.enabled) return Infinity;
    let latest: MessageRule | undefined = rule;
    let next = Infinity;
    try {
      const owner = this.deps.owners.callerOf(rule);
      this.expectUsable(rule, owner);
      const seen = this.deps.sources.observe(rule, owner);
      latest = await this.follow(rule, seen);
      next = latest ? await this.write(latest, seen) : Infinity;
      latest = latest && this.latest(latest);
    } finally {
      // Messages that were written already are sent, also when the owner has lost their rights.
      if (latest) next = Math.min(next, this.deliveries.begin(latest, signal));
    }
    return next;
  }

  /** @throws DomainError NOT_PERMITTED for a channel that is not shared any more */
  private expectUsable({ channel }: MessageRule, owner: Caller): void {
    if (!usableChannels(this.deps.channels, owner).some(({ id }) => id === channel))
      throw new DomainError('NOT_PERMITTED', 'The owner of the rule may not use its channel.');
  }

  private latest({ owner, id }: MessageRule): MessageRule | undefined {
    return this.deps.rules.of(owner).find((one) => one.id === id);
  }

  /** Stores what the rule sees now. */
  private async follow(rule: MessageRule, seen: Observation): Promise<MessageRule | undefined> {
    const { rules, clock } = this.deps;
    if (!consider(rule, seen, clock.iso())) return rule;
    return rules.change(rule.owner, rule.id, (stored) => {
      if (stored.changedAt !== rule.changedAt || !stored.enabled) return undefined;
      const state = consider(stored, seen, clock.iso());
      return state && { ...stored, state };
    });
  }

  /** Stores the next message of the rule, if it is due. */
  private async write(rule: MessageRule, seen: Observation): Promise<number> {
    const { rules, clock, times } = this.deps;
    const now = clock.now();
    const { state, next } = write(rule, seen, times, now);
    if (!state) return next;
    await rules.change(rule.owner, rule.id, (stored) => {
      if (stored.changedAt !== rule.changedAt || !stored.enabled) return undefined;
      const written = write(stored, seen, times, now).state;
      return written && { ...stored, state: written };
    });
    return next;
  }

  /** Once, as long as the reason is the same. */
  private report({ id }: MessageRule, reason: string): void {
    if (this.reported.get(id) === reason) return;
    this.reported.set(id, reason);
    this.deps.log.warn({ rule: id, reason }, 'a message rule was not followed');
  }
}
