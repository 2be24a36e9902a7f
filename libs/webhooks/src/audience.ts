import {
  formatRef,
  type AccessSubject,
  type Webhook,
  type WebhookEvent,
  type WebhookEventSubjects,
  type WebhookEventType,
} from '@headgate/domain-contracts';
import { filterMembers, memberRefsIn, type EventBody } from './task-members.js';
import type { WebhookRights } from './webhook-rights.js';

/** How the instances of an event were when it happened. */
export type EventSubjects = Omit<WebhookEventSubjects, 'seenBy'>;

/** An event that is not stored yet. */
export interface NewEvent {
  readonly type: WebhookEventType;
  readonly body: string;
  readonly about: EventSubjects;
}

type Receiver = Pick<Webhook, 'id' | 'creator' | 'scope' | 'events'>;

/**
 * Decides which events a webhook gets, and what of them, by the present rights of its creator and by its scope. A
 * webhook for everything, whose creator may read everything, gets all of them. Another one gets an event only if its
 * creator could see an instance of it when it happened, and still can: as it was then, and as it is now. Of an instance
 * that is gone, its last known state counts.
 */
export class Audience {
  constructor(private readonly rights: WebhookRights) {}

  /** Why the creator of a webhook gets nothing at all; undefined if they may read something. */
  pauseOf({ creator }: Pick<Webhook, 'creator'>): string | undefined {
    if (this.rights.grantOf(creator).readsShared) return undefined;
    const who = creator || 'A user without a login';
    return `${who} has no right to read any instance: no role of their own, or no account any more.`;
  }

  /** The types of events that a webhook needs: an instance that leaves its view is a change. */
  typesFor({ events }: Pick<Webhook, 'events'>): readonly WebhookEventType[] {
    const needsChanges = events.includes('instance.removed') && !events.includes('instance.changed');
    return needsChanges ? [...events, 'instance.changed'] : events;
  }

  /**
   * The webhooks that may get a new event.
   * @returns undefined if no webhook gets it
   */
  seenBy(webhooks: readonly Receiver[], event: NewEvent): string[] | undefined {
    let isWanted = false;
    const ids: string[] = [];
    for (const webhook of webhooks) {
      if (!this.typesFor(webhook).includes(event.type)) continue;
      try {
        const isForAll = this.isForEverything(webhook);
        if (!isForAll && this.view(webhook, event.type, event.body, event.about) !== undefined) ids.push(webhook.id);
        isWanted ||= isForAll ? webhook.events.includes(event.type) : ids.at(-1) === webhook.id;
      } catch {
        // The rights can't be read: whether it is for everything is decided when it is delivered.
        isWanted = true;
      }
    }
    return isWanted ? ids : undefined;
  }

  /**
   * The body of an event for a webhook now.
   * @returns undefined if it gets none
   * @throws DomainError NOT_READY while the rights of its creator can't be read
   */
  bodyFor(webhook: Receiver, { type, body, about }: WebhookEvent): string | undefined {
    if (this.isForEverything(webhook)) return webhook.events.includes(type) ? body : undefined;
    return about?.seenBy.includes(webhook.id) ? this.view(webhook, type, body, about) : undefined;
  }

  private isForEverything({ creator, scope = {} }: Receiver): boolean {
    const isEverything = Object.values(scope).every((value) => value === undefined);
    return isEverything && this.rights.grantOf(creator).allowsAll('read');
  }

  private view(webhook: Receiver, type: WebhookEventType, body: string, about: EventSubjects): string | undefined {
    if (type === 'task.ended') return this.taskView(webhook, body, about);
    const [was] = about.instances;
    if (!was) return undefined;
    if (this.sees(webhook, was)) return webhook.events.includes(type) ? body : undefined;
    const hasLeft = about.before !== undefined && !this.mayRead(webhook, was) && this.mayRead(webhook, about.before);
    return hasLeft && webhook.events.includes('instance.removed') ? removalOf(body, about.before) : undefined;
  }

  /** The end of a task about instances that the creator sees, without the other ones. */
  private taskView(webhook: Receiver, text: string, about: EventSubjects): string | undefined {
    const body = JSON.parse(text) as EventBody;
    const known = new Map(about.instances.map((subject) => [formatRef(subject.instance.ref), subject]));
    const seesRef = (ref: string, uid?: string): boolean => {
      const was = known.get(ref);
      if (was) return (uid === undefined || uid === was.instance.uid) && this.sees(webhook, was);
      const now = this.rights.find(ref);
      return now !== undefined && (uid === undefined || uid === now.instance.uid) && this.mayRead(webhook, now);
    };
    if (memberRefsIn(body) !== undefined) return filterMembers(body, seesRef);
    return body.data.ref !== undefined && seesRef(body.data.ref) ? text : undefined;
  }

  private sees(webhook: Receiver, was: AccessSubject): boolean {
    if (!this.mayRead(webhook, was)) return false;
    const now = this.rights.find(formatRef(was.instance.ref));
    // Another instance with the name of one that is gone.
    return now?.instance.uid !== was.instance.uid || this.mayRead(webhook, now);
  }

  private mayRead({ creator, scope = {} }: Receiver, subject: AccessSubject): boolean {
    return this.rights.grantOf(creator).allows('read', subject) && this.rights.isInScope(subject, scope);
  }
}

/** The webhook only learns that it sees the instance no longer, under the name by which it knows it. */
const removalOf = (body: string, { instance }: AccessSubject): string => {
  const { timestamp } = JSON.parse(body) as EventBody;
  return JSON.stringify({ type: 'instance.removed', timestamp, data: { ref: formatRef(instance.ref) } });
};
