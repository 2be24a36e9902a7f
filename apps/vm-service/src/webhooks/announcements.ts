import { formatRef, type AccessSubject, type Task, type TaskMember } from '@headgate/domain-contracts';
import { FleetReader, type FleetEntry, type FleetEvent } from '@headgate/fleet';
import type { WebhookDispatcher } from '@headgate/webhooks';
import { presentEntry } from '../fleet/present.js';

/** How many removed instances are remembered for the ends of the tasks that have removed them. */
const MAX_REMOVED = 2000;
/** How many members of a bulk task its message names. */
const MAX_MEMBERS = 500;
const KINDS = ['vm', 'ct'] as const;

/** Publishes the changes of the fleet and the ends of tasks to the webhooks. */
export class Announcements {
  /** The last state of each instance while webhooks need it: the fleet reports changes that its entries do not show. */
  private readonly last = new Map<string, FleetEntry>();
  /** The last state of the instances that were removed, the latest ones last. */
  private readonly removed = new Map<string, AccessSubject>();
  private unsubscribe: (() => void) | undefined;
  private isStopped = false;

  constructor(
    private readonly fleet: FleetReader,
    private readonly dispatcher: Pick<WebhookDispatcher, 'wants' | 'publish' | 'whenReloaded'>,
  ) {}

  /** The instances that exist when the service starts are no changes. */
  async start(): Promise<void> {
    await this.fleet.whenSynced();
    if (this.isStopped) return;
    this.unsubscribe = this.fleet.subscribe((event) => this.announce(event));
    this.dispatcher.whenReloaded(() => this.follow());
    this.follow();
  }

  stop(): void {
    this.isStopped = true;
    this.unsubscribe?.();
  }

  /** The end of a task, without its log, which may be long. */
  taskEnded(task: Task): void {
    const { id, kind, status, error, ref, caller, startedAt, finishedAt, members } = task;
    const base = { id, kind, status, error, ref, caller, startedAt, finishedAt };
    if (ref !== '' || members === undefined) {
      const subject = this.subjectOf(ref);
      const about = { instances: subject ? [subject] : [] };
      return this.dispatcher.publish({ key: `task/${id}`, type: 'task.ended', data: base, about });
    }
    const named = members.slice(0, MAX_MEMBERS);
    const omitted = members.length - named.length;
    const data = { ...base, members: named.map(presentMember), ...(omitted > 0 && { omittedMembers: omitted }) };
    this.dispatcher.publish({ key: `task/${id}`, type: 'task.ended', data, about: { instances: this.goneOf(named) } });
  }

  private announce(event: FleetEvent): void {
    if (event.type === 'status' || !this.isNeeded) return;
    const { instance } = event.type === 'changed' ? event.entry : event;
    const key = formatRef(instance.ref);
    const before = this.last.get(key);
    if (event.type === 'removed') {
      this.last.delete(key);
      // The instance goes on: only its context was removed from the service.
      if (event.isDetached) return;
      const was = before ? subjectOf(before) : { instance };
      this.remember(key, was);
      return this.dispatcher.publish({
        key,
        type: 'instance.removed',
        data: { ref: key },
        about: { instances: [was] },
      });
    }
    this.last.set(key, event.entry);
    const data = presentEntry(event.entry);
    if (before && JSON.stringify(presentEntry(before)) === JSON.stringify(data)) return;
    this.dispatcher.publish({
      key,
      type: 'instance.changed',
      data,
      about: { instances: [subjectOf(event.entry)], ...(before && { before: subjectOf(before) }) },
    });
  }

  private get isNeeded(): boolean {
    return (['instance.changed', 'instance.removed', 'task.ended'] as const).some((type) =>
      this.dispatcher.wants(type),
    );
  }

  /** Begins to remember the states when there is a webhook, and forgets them when there is none. */
  private follow(): void {
    if (!this.isNeeded) {
      this.last.clear();
      this.removed.clear();
    } else if (this.last.size === 0) {
      for (const kind of KINDS)
        for (const entry of this.fleet.all(kind)) this.last.set(formatRef(entry.instance.ref), entry);
    }
  }

  private remember(ref: string, subject: AccessSubject): void {
    this.removed.delete(ref);
    this.removed.set(ref, subject);
    const [oldest] = this.removed.keys();
    if (this.removed.size > MAX_REMOVED && oldest !== undefined) this.removed.delete(oldest);
  }

  private subjectOf(ref: string): AccessSubject | undefined {
    const entry = this.last.get(ref);
    return entry ? subjectOf(entry) : this.removed.get(ref);
  }

  /** The members that do not exist any more, as they were. */
  private goneOf(members: readonly TaskMember[]): AccessSubject[] {
    return members.flatMap(({ ref, uid }) => {
      const was = this.removed.get(ref);
      const isSame = was !== undefined && (uid === undefined || was.instance.uid === uid);
      return isSame && this.last.get(ref)?.instance.uid !== was.instance.uid ? [was] : [];
    });
  }
}

const subjectOf = ({ instance, folder }: FleetEntry): AccessSubject =>
  folder === undefined ? { instance } : { instance, folder };

const presentMember = ({ ref, uid, status, error }: TaskMember): TaskMember => ({
  ref,
  ...(uid !== undefined && { uid }),
  status,
  ...(error !== undefined && { error }),
});
