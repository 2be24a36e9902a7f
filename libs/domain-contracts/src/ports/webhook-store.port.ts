import type { AccessScope, AccessSubject } from '../model/grant.js';

/** The events that a webhook can be for. */
export const WEBHOOK_EVENTS = ['instance.changed', 'instance.removed', 'task.ended'] as const;
export type WebhookEventType = (typeof WEBHOOK_EVENTS)[number];

/** A receiver of events. */
export interface Webhook {
  readonly id: string;
  /** The user's name for it. */
  readonly name: string;
  readonly url: string;
  /** The key of its signatures, as the receiver has it. */
  readonly secret: string;
  /** The key before the last rotation. Until this time, in ISO 8601, messages are signed with it as well. */
  readonly former?: { readonly secret: string; readonly until: string };
  readonly events: readonly WebhookEventType[];
  /** The instances that it is for; without one, all that its creator may read. */
  readonly scope?: AccessScope;
  /** The login of its creator, whose rights it has. */
  readonly creator: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** The number of the last event that was delivered, or is not for it. */
  readonly position: number;
  /** How many attempts to deliver the next event have failed. */
  readonly attempts: number;
  /** When the next attempt is due; null when none has failed. */
  readonly nextAttemptAt: string | null;
  /** Why the last attempt failed; empty if it did not. */
  readonly lastError: string;
  readonly lastDeliveredAt: string | null;
  /** Whether deliveries have stopped, because they failed for too long. */
  readonly disabled: boolean;
  /** Why deliveries wait, besides failures: its creator may read nothing any more. Absent while they don't. */
  readonly paused?: string;
  /** Events that were dropped from the log before they were delivered. */
  readonly missed: number;
}

export interface WebhookEvent {
  readonly number: number;
  readonly type: WebhookEventType;
  /** ISO 8601. */
  readonly time: string;
  /** The message as JSON, without secrets. */
  readonly body: string;
  /** Absent: only webhooks for everything get it. */
  readonly about?: WebhookEventSubjects;
}

/** The instances of an event, for the webhooks that are not for everything. */
export interface WebhookEventSubjects {
  /** The IDs of the webhooks whose creators could see one of them when it happened. */
  readonly seenBy: readonly string[];
  /** As they were then. Of a task with many instances, those that did not exist any more. */
  readonly instances: readonly AccessSubject[];
  /** How a changed or removed instance was before. */
  readonly before?: AccessSubject;
}

/**
 * Stores the webhooks and a bounded log of their events. A write that has returned is durable. Reads return the writes
 * of this process, and soon afterwards those of other replicas.
 */
export abstract class WebhookStore {
  /**
   * Adds or replaces a webhook.
   * @throws DomainError ALREADY_EXISTS when another replica has just created one of the same name
   */
  abstract put(webhook: Webhook): Promise<void>;
  /**
   * Changes the latest version of a webhook; does nothing if it is gone.
   * @param change returns undefined to leave it as it is; called again when another replica has changed the webhook
   *   meanwhile
   */
  abstract update(id: string, change: (webhook: Webhook) => Webhook | undefined): Promise<void>;
  abstract get(id: string): Webhook | undefined;
  /** In the order of their creation. */
  abstract all(): readonly Webhook[];
  /** @returns whether it existed */
  abstract delete(id: string): Promise<boolean>;

  /** Adds events to the log and drops the oldest ones beyond its bound. */
  abstract append(events: readonly Omit<WebhookEvent, 'number'>[]): Promise<void>;
  /** The first event after a position. */
  abstract next(position: number, types: readonly WebhookEventType[]): WebhookEvent | undefined;
  /** The numbers of the oldest and the newest event in the log; 0 when there was none. */
  abstract bounds(): { readonly oldest: number; readonly newest: number };
  /** The position before the first event at or after a time. */
  abstract positionBefore(time: string): number;

  /**
   * @param listener called with the new events, or none, after another replica has changed the log or the webhooks,
   *   until the returned function is called
   */
  subscribe(_listener: (events: readonly WebhookEvent[]) => void): () => void {
    return () => undefined;
  }
}
