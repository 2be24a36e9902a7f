import type { TaskView } from '@headgate/api-contracts';
import { statusOf, type InstanceView } from '../instances/instance.js';

export type StreamEntry = Partial<TaskView> & Partial<InstanceView> & { readonly ref?: string; readonly id?: string };

export interface StateChange {
  readonly entry: StreamEntry;
  /** One line for people. */
  readonly line: string;
}

/** The last known states, so that a new snapshot after an interruption only shows the differences. */
export class KnownStates {
  private readonly topics = new Map<string, Map<string, string>>();

  /**
   * @param event such as `vms.changed`
   * @returns the entries whose state is not the known one; none for the first snapshot of a topic
   */
  changesIn(event: string, entries: readonly StreamEntry[]): StateChange[] {
    const [topic = '', what] = event.split('.');
    const keyOf = ({ id, ref }: StreamEntry): string => (topic === 'tasks' ? id : ref) ?? '';
    const known = this.topics.get(topic);
    const states = what === 'snapshot' ? new Map<string, string>() : (known ?? new Map<string, string>());
    this.topics.set(topic, states);
    const changes: StateChange[] = [];
    for (const entry of entries) {
      const key = keyOf(entry);
      const former = known?.get(key);
      if (what === 'removed') {
        states.delete(key);
        changes.push({ entry, line: `${key} is gone` });
        continue;
      }
      const state = topic === 'tasks' ? taskState(entry) : statusOf(entry as InstanceView);
      states.set(key, state);
      if (former === state || (what === 'snapshot' && !known)) continue;
      changes.push({ entry, line: former === undefined ? `${key} ${state}` : `${key} ${former} → ${state}` });
    }
    // The list of tasks has the last ones only, so a task that is missing there is not gone.
    if (what !== 'snapshot' || topic === 'tasks') return changes;
    const gone = [...(known?.keys() ?? [])].filter((key) => !states.has(key));
    return [...changes, ...gone.map((ref) => ({ entry: { ref }, line: `${ref} is gone` }))];
  }
}

const taskState = ({ status = 'running', error = '' }: StreamEntry): string =>
  error === '' ? status : `${status}: ${error}`;
