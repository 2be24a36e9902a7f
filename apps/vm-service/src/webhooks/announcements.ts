import { formatRef, type Task } from '@headgate/domain-contracts';
import { FleetReader, type FleetEvent } from '@headgate/fleet';
import { WebhookDispatcher } from '@headgate/webhooks';
import { presentEntry } from '../fleet/present.js';

/** Publishes the changes of the fleet and the ends of tasks to the webhooks. */
export class Announcements {
  /** The last published state of each instance, because the fleet also reports changes that its entries do not show. */
  private readonly published = new Map<string, string>();
  private unsubscribe: (() => void) | undefined;
  private isStopped = false;

  constructor(
    private readonly fleet: FleetReader,
    private readonly dispatcher: WebhookDispatcher,
  ) {}

  /** The instances that exist when the service starts are no changes. */
  async start(): Promise<void> {
    await this.fleet.whenSynced();
    if (!this.isStopped) this.unsubscribe = this.fleet.subscribe((event) => this.announce(event));
  }

  stop(): void {
    this.isStopped = true;
    this.unsubscribe?.();
  }

  /** The end of a task, without its log, which may be long. */
  taskEnded({ id, kind, status, error, ref, caller, startedAt, finishedAt }: Task): void {
    this.dispatcher.publish(`task/${id}`, 'task.ended', {
      id,
      kind,
      status,
      error,
      ref,
      caller,
      startedAt,
      finishedAt,
    });
  }

  private announce(event: FleetEvent): void {
    if (event.type === 'status') return;
    const { instance } = event.type === 'changed' ? event.entry : event;
    const ref = formatRef(instance.ref);
    if (event.type === 'removed') {
      this.published.delete(ref);
      // The instance goes on: only its context was removed from the service.
      if (event.isDetached) return;
      this.dispatcher.publish(ref, 'instance.removed', { ref });
      return;
    }
    if (!this.dispatcher.wants('instance.changed')) return this.published.clear();
    const data = presentEntry(event.entry);
    const text = JSON.stringify(data);
    if (this.published.get(ref) === text) return;
    this.published.set(ref, text);
    this.dispatcher.publish(ref, 'instance.changed', data);
  }
}
