import type { SandboxClock } from './clock.js';
import type { KubeObject } from './kube-object.js';
import type { ObjectStore } from './object-store.js';

export interface RecordedEvent {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
  /** The reporting controller, such as `deployment-controller`. */
  component: string;
  /** The node on which it runs. */
  host?: string;
}

/** A stored core/v1 Event. */
export interface EventObject extends KubeObject {
  type: string;
  reason: string;
  message: string;
  count: number;
  firstTimestamp: string;
  lastTimestamp: string;
  source: { component: string; host?: string };
  involvedObject: {
    apiVersion: string;
    kind: string;
    name: string;
    namespace?: string;
    uid?: string;
    resourceVersion?: string;
  };
}

/** Older events are deleted, as with the API server's `--event-ttl`. */
const LIFETIME_MS = 60 * 60 * 1000;

/** Writes Events about objects; an identical event increments the count of the first, as client-go's recorder does. */
export class EventRecorder {
  private readonly names = new Map<string, string>();
  private serial = 0;

  constructor(
    private readonly store: ObjectStore,
    private readonly clock: SandboxClock,
  ) {}

  record(about: KubeObject, { type, reason, message, component, host }: RecordedEvent): void {
    const namespace = about.metadata.namespace ?? 'default';
    const id = [about.metadata.uid, type, reason, message, component, host].join('\n');
    const now = this.clock.timestamp();
    const known = this.names.get(id);
    if (known && this.store.get('events', { namespace, name: known })) {
      this.store.patch<EventObject>('events', { namespace, name: known }, (event) => {
        event.count += 1;
        event.lastTimestamp = now;
      });
      return;
    }
    // As for every client: nothing new is created in a namespace that is being terminated, or it would never end.
    if (this.store.get('namespaces', { name: namespace })?.metadata.deletionTimestamp) return;
    const name = `${about.metadata.name}.${(this.clock.now() * 4096 + (this.serial++ % 4096)).toString(16)}`;
    this.names.set(id, name);
    const { apiVersion, kind, metadata } = about;
    this.store.create<EventObject>('events', {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name, namespace },
      type,
      reason,
      message,
      count: 1,
      firstTimestamp: now,
      lastTimestamp: now,
      source: host ? { component, host } : { component },
      involvedObject: {
        apiVersion,
        kind,
        name: metadata.name,
        namespace: metadata.namespace,
        uid: metadata.uid,
        resourceVersion: metadata.resourceVersion,
      },
    });
    this.clock.schedule(() => this.forget(id, { namespace, name }), LIFETIME_MS);
  }

  private forget(id: string, key: { namespace: string; name: string }): void {
    if (this.names.get(id) === key.name) this.names.delete(id);
    if (this.store.get('events', key)) this.store.delete('events', key);
  }
}
