import type { Message, MessageChannel } from '@headgate/domain-contracts';

/** A message as receivers get it. */
export interface OutgoingMessage extends Pick<Message, 'id' | 'severity' | 'subject' | 'text'> {
  /** When it was written, in ISO 8601. */
  readonly createdAt: string;
  /** Ends the attempt. */
  readonly signal: AbortSignal;
}

/**
 * - `sent`: the receiver has accepted it. `reason` names the recipients that were refused, if any.
 * - `refused`: the receiver will not accept it later either.
 * - `failed`: it may accept it later. It may also have accepted it already, if its answer was lost.
 */
export interface SendOutcome {
  readonly result: 'sent' | 'refused' | 'failed';
  /** One sentence without secrets; empty for a success. */
  readonly reason: string;
}

/** Sends one message to a channel. */
export abstract class MessageSender {
  /** Does not throw. Ends within two minutes. */
  abstract send(channel: MessageChannel, message: OutgoingMessage): Promise<SendOutcome>;
  /** @throws DomainError INVALID_INPUT for a target to which nothing may be sent */
  abstract check(target: MessageChannel['target']): void;
}
