import { OwnedStore, type OwnedObject } from './owned-store.port.js';

/** From the least to the most serious. */
export const MESSAGE_SEVERITIES = ['info', 'warning', 'error'] as const;
export type MessageSeverity = (typeof MESSAGE_SEVERITIES)[number];

/** The events that messages are about. */
export const MESSAGE_KINDS = [
  'problem.began',
  'problem.ended',
  'instance.failed',
  'instance.recovered',
  'context.lost',
  'context.returned',
  'task.failed',
  'schedule.failed',
  'schedule.missed',
] as const;
export type MessageKind = (typeof MESSAGE_KINDS)[number];

export const MESSAGE_DELIVERIES = ['immediately', 'digest'] as const;
export type MessageDelivery = (typeof MESSAGE_DELIVERIES)[number];

/** `none` is possible on the loopback interface only. */
export const MAIL_SECURITIES = ['starttls', 'tls', 'none'] as const;
export type MailSecurity = (typeof MAIL_SECURITIES)[number];

export interface MailTarget {
  readonly kind: 'mail';
  readonly host: string;
  readonly port: number;
  readonly security: MailSecurity;
  /** Empty without a login. */
  readonly user: string;
  /** A secret; empty without a login. */
  readonly password: string;
  readonly from: string;
  readonly recipients: readonly string[];
}

export interface NtfyTarget {
  readonly kind: 'ntfy';
  /** The URL of the server. */
  readonly server: string;
  readonly topic: string;
  /** A secret; empty if the topic needs none. */
  readonly token: string;
}

export interface WebhookTarget {
  readonly kind: 'webhook';
  /** The ID of a webhook. */
  readonly webhook: string;
}

export type MessageTarget = MailTarget | NtfyTarget | WebhookTarget;

/** Where messages are sent to. The owner is the administrator who created it. */
export interface MessageChannel extends OwnedObject {
  /** Unique among all. */
  readonly name: string;
  /** Whether every user may send to it by a rule; otherwise only administrators. */
  readonly shared: boolean;
  readonly target: MessageTarget;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly changedAt: string;
}

/** A problem that a rule has seen, until it has seen its end. */
export interface OpenCondition {
  readonly key: string;
  readonly kind: 'problem' | 'instance' | 'context';
  readonly severity: MessageSeverity;
  /** One line. */
  readonly title: string;
  /** When the rule saw it first. ISO 8601. */
  readonly since: string;
  /** The ref of its instance, as text. */
  readonly ref?: string;
}

/** An event that waits for its message. */
export interface MessageEvent {
  /** Derived from the rule, the kind, the object and the time at which it began. */
  readonly id: string;
  readonly kind: MessageKind;
  readonly severity: MessageSeverity;
  /** Its object: later events of the same object take the place of this one. */
  readonly key: string;
  /** One line. */
  readonly title: string;
  /** One line, or empty. */
  readonly detail: string;
  /** ISO 8601. */
  readonly time: string;
  /** How many events of this object it represents. */
  readonly count: number;
  readonly ref?: string;
}

/** The events of a message that was not written yet. */
export interface PendingEvents {
  /** When the first one was seen. ISO 8601. */
  readonly since: string;
  /** The first ones. */
  readonly events: readonly MessageEvent[];
  /** The number of further events. */
  readonly more: number;
}

/**
 * - `waiting`: it was written, and is about to be sent, or sent again.
 * - `sent`: the receiver has accepted it.
 * - `failed`: the receiver has refused it, or was not reached for a day.
 */
export const MESSAGE_STATUSES = ['waiting', 'sent', 'failed'] as const;
export type MessageStatus = (typeof MESSAGE_STATUSES)[number];

/** A message of a rule. */
export interface Message {
  /** The same at each attempt, so that receivers recognize a repetition. */
  readonly id: string;
  readonly status: MessageStatus;
  readonly severity: MessageSeverity;
  readonly subject: string;
  /** Plain text; empty once it was sent or has failed. */
  readonly text: string;
  /** The number of events that it is about. */
  readonly events: number;
  readonly isDigest: boolean;
  /** ISO 8601. */
  readonly createdAt: string;
  /** ISO 8601; null while it waits. */
  readonly endedAt: string | null;
  readonly attempts: number;
  /** When the next attempt is due; null if none is. While an attempt goes on, its latest end. */
  readonly nextAttemptAt: string | null;
  /** Why the last attempt failed, or which recipients were refused; empty otherwise. */
  readonly reason: string;
}

/** Something that has ended and was considered. */
export interface ConsideredWork {
  readonly id: string;
  /** ISO 8601. */
  readonly endedAt: string;
}

/** What a rule has seen and sent. */
export interface MessageRuleState {
  /** The sources whose conditions were seen at least once. Those of the first time are no events. */
  readonly sources: readonly string[];
  readonly open: readonly OpenCondition[];
  /** Work that ended at this time or before is not considered any more. ISO 8601. */
  readonly endedUntil: string;
  /** Later work that was considered already, by its end. */
  readonly considered: readonly ConsideredWork[];
  /** The time of a digest that was considered last. ISO 8601. */
  readonly digestAfter: string;
  readonly pending: PendingEvents | null;
  /** The newest first. */
  readonly messages: readonly Message[];
}

export interface QuietHours {
  /** `HH:MM`, in the time zone of the rule. */
  readonly from: string;
  readonly to: string;
}

/** Which events are sent where, with the rights of its owner. */
export interface MessageRule extends OwnedObject {
  /** The API token that has created it: it never sees more than the token. */
  readonly token?: string;
  /** Unique among those of the owner. */
  readonly name: string;
  readonly enabled: boolean;
  /** The ID of a channel. */
  readonly channel: string;
  readonly minSeverity: MessageSeverity;
  readonly kinds: readonly MessageKind[];
  /** Only events of the instances in this folder and those in it. */
  readonly folder?: string;
  /** Only events of the instances that match this query. */
  readonly q?: string;
  readonly delivery: MessageDelivery;
  /** When the digest is sent, `HH:MM`. */
  readonly digestAt: string;
  /** Of the IANA database. */
  readonly timeZone: string;
  /** When nothing is sent immediately. */
  readonly quietHours?: QuietHours;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly changedAt: string;
  readonly state: MessageRuleState;
}

/** Stores objects of users that change often. */
abstract class ChangingStore<T extends OwnedObject> extends OwnedStore<T> {
  /** Those of all owners. */
  abstract all(): readonly T[];

  /**
   * Changes the latest version of an object; no other write comes between.
   * @param change returns undefined to leave it as it is. It may be called again with a version that has its change
   *   already
   * @returns the object; undefined if there is none
   */
  abstract change(owner: string, id: string, change: (stored: T) => T | undefined): Promise<T | undefined>;
}

/** Stores the channels of messages with their secrets, by name. */
export abstract class MessageChannelStore extends ChangingStore<MessageChannel> {}

/** Stores the rules of messages with what they have seen and sent, by name. */
export abstract class MessageRuleStore extends ChangingStore<MessageRule> {}

/** The order of `MessageChannelStore.of` and `MessageRuleStore.of`. */
export const byMessageName = (a: Pick<MessageRule, 'name' | 'id'>, b: Pick<MessageRule, 'name' | 'id'>): number =>
  a.name < b.name ? -1 : a.name > b.name ? 1 : a.id < b.id ? -1 : 1;
