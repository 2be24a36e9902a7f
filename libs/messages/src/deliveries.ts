import {
  messageOf,
  RETRY_DELAYS_MS,
  type Clock,
  type Log,
  type Message,
  type MessageChannel,
  type MessageChannelStore,
  type MessageRule,
  type MessageRuleStore,
} from '@headgate/domain-contracts';
import type { MessageSender, SendOutcome } from './message-sender.js';
import { ATTEMPT_MS, attemptAt, waitingOf, withVersion } from './outbox.js';

export interface DeliveriesDeps {
  readonly rules: MessageRuleStore;
  readonly channels: MessageChannelStore;
  readonly sender: MessageSender;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when the deliveries of a rule have paused. */
  readonly onPause: () => void;
}

/**
 * Sends the messages of rules, those of one rule in their order. An attempt is stored before it begins, so that two
 * processes send no message at the same time, and its outcome afterwards. A message whose outcome is not known, because
 * the process was killed or the answer was lost, is sent again with the same ID.
 */
export class Deliveries {
  private readonly active = new Set<string>();
  /** The outcomes that could not be stored: these messages are not sent again. */
  private readonly unstored = new Map<string, SendOutcome>();

  constructor(private readonly deps: DeliveriesDeps) {}

  /**
   * Begins the deliveries of a rule that are due.
   * @returns when the next attempt is due, in milliseconds since the epoch
   */
  begin(rule: MessageRule, signal: AbortSignal): number {
    const now = this.deps.clock.now();
    const [next] = waitingOf(rule.state);
    if (!next || this.active.has(rule.id)) return Infinity;
    const due = attemptAt(next, now);
    if (due > now) return due;
    void this.deliverAll(rule, signal);
    return Infinity;
  }

  private async deliverAll({ owner, id }: MessageRule, signal: AbortSignal): Promise<void> {
    const { log, onPause } = this.deps;
    this.active.add(id);
    try {
      while (!signal.aborted && (await this.deliverNext(owner, id, signal)));
      this.active.delete(id);
      if (!signal.aborted) onPause();
    } catch (error) {
      log.warn({ rule: id, reason: messageOf(error) }, 'the deliveries of a message rule stopped');
    } finally {
      this.active.delete(id);
    }
  }

  /** @returns whether to go on with the next message */
  private async deliverNext(owner: string, id: string, signal: AbortSignal): Promise<boolean> {
    const { rules, clock } = this.deps;
    let claimed: Message | undefined;
    const rule = await rules.change(owner, id, (stored) => {
      claimed = undefined;
      const [next] = waitingOf(stored.state);
      const now = clock.now();
      if (!next) return undefined;
      if (this.unstored.has(next.id)) return void (claimed = next);
      if (attemptAt(next, now) > now) return undefined;
      const nextAttemptAt = new Date(now + ATTEMPT_MS).toISOString();
      claimed = { ...next, attempts: next.attempts + 1, nextAttemptAt };
      return { ...stored, state: withVersion(stored.state, claimed) };
    });
    if (!rule || !claimed) return false;
    const message: Message = claimed;
    const outcome = this.unstored.get(message.id) ?? (await this.send(rule, message, signal));
    // The next leader repeats an attempt that was ended with the term of this one.
    if (signal.aborted && outcome.result === 'failed') return false;
    this.unstored.set(message.id, outcome);
    await rules.change(owner, id, (stored) => {
      const latest = stored.state.messages.find((one) => one.id === message.id);
      if (latest?.status !== 'waiting') return undefined;
      return { ...stored, state: withVersion(stored.state, this.settled(message, outcome)) };
    });
    this.unstored.delete(message.id);
    return true;
  }

  private async send({ channel: id }: MessageRule, message: Message, signal: AbortSignal): Promise<SendOutcome> {
    const { channels, sender } = this.deps;
    const channel: MessageChannel | undefined = channels.all().find((one) => one.id === id);
    if (!channel) return { result: 'refused', reason: 'The channel of the rule was deleted.' };
    const { severity, subject, text, createdAt } = message;
    return sender.send(channel, { id: message.id, severity, subject, text, createdAt, signal });
  }

  private settled(message: Message, { result, reason }: SendOutcome): Message {
    const { clock } = this.deps;
    const delayMs = RETRY_DELAYS_MS[message.attempts - 1];
    if (result === 'failed' && delayMs !== undefined)
      return { ...message, reason, nextAttemptAt: new Date(clock.now() + delayMs).toISOString() };
    const status = result === 'sent' ? 'sent' : 'failed';
    return { ...message, status, text: '', endedAt: clock.iso(), nextAttemptAt: null, reason };
  }
}
