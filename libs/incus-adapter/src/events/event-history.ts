import type { InstanceEvent } from '@headgate/domain-contracts';
import type { EventObject, LifecycleObject, OperationObject } from '../api/incus-objects.js';
import type { InstancePath } from '../api/when-idle.js';
import { instanceOf } from '../inventory/touched-instances.js';

/** Events of one instance, and instances, that are kept. */
const MAX_EVENTS = 100;
const MAX_INSTANCES = 10_000;
const FAILURE = 400;

const keyOf = ({ project, name }: InstancePath): string => `${project}/${name}`;

/** The latest events that the server has emitted, in memory: it keeps none. */
export class EventHistory {
  /** By project and name, the oldest event first; the instance with the latest event is the last one. */
  private readonly histories = new Map<string, InstanceEvent[]>();

  record({ type, timestamp, project = 'default', metadata }: EventObject): void {
    if (type === 'lifecycle') this.recordLifecycle(timestamp, project, metadata as Partial<LifecycleObject>);
    else if (type === 'operation') this.recordFailure(timestamp, project, metadata as Partial<OperationObject>);
  }

  /** Newest first. */
  recent(path: InstancePath, limit: number): readonly InstanceEvent[] {
    return (this.histories.get(keyOf(path)) ?? []).slice(-limit).reverse();
  }

  private recordLifecycle(
    timestamp: string,
    project: string,
    { action = '', source = '', context }: Partial<LifecycleObject>,
  ): void {
    const path = instanceOf(source, project);
    if (!path) return;
    const reason = reasonOf(action);
    // A later instance of the same name does not inherit its events.
    if (reason === 'Deleted' || reason === 'Created') this.histories.delete(keyOf(path));
    if (reason === 'Deleted') return;
    const oldName = context?.old_name;
    if (reason === 'Renamed' && typeof oldName === 'string') this.rename({ ...path, name: oldName }, path);
    this.add(path, timestamp, 'Normal', reason, `The server reports ${action}.`);
  }

  private recordFailure(
    timestamp: string,
    project: string,
    { status_code = 0, description = '', err = '', resources }: Partial<OperationObject>,
  ): void {
    if (status_code < FAILURE || err === '') return;
    for (const source of resources?.instances ?? resources?.containers ?? []) {
      const path = instanceOf(source, project);
      if (path) this.add(path, timestamp, 'Warning', 'Failed', `${description}: ${err}`);
    }
  }

  private add(path: InstancePath, timestamp: string, type: InstanceEvent['type'], reason: string, text: string): void {
    const key = keyOf(path);
    const events = this.histories.get(key) ?? [];
    const time = new Date(timestamp).toISOString();
    events.push({ time, type, reason, object: `Instance/${path.name}`, message: text });
    if (events.length > MAX_EVENTS) events.shift();
    this.histories.delete(key);
    this.histories.set(key, events);
    if (this.histories.size > MAX_INSTANCES) this.histories.delete(this.histories.keys().next().value ?? '');
  }

  private rename(from: InstancePath, to: InstancePath): void {
    const events = this.histories.get(keyOf(from));
    this.histories.delete(keyOf(from));
    if (events)
      this.histories.set(
        keyOf(to),
        events.map((event) => ({ ...event, object: `Instance/${to.name}` })),
      );
  }
}

/** `instance-snapshot-created` is `SnapshotCreated`. */
const reasonOf = (action: string): string =>
  action
    .split('-')
    .slice(1)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('') || action;
