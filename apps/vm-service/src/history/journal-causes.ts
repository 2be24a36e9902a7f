import type { FleetAuditLog, JournalEntry, Task } from '@headgate/domain-contracts';
import type { Causes } from './find-cause.js';

/** The actions of one object that are read at once. */
const MAX_ACTIONS = 1000;

/** The actions of the journal about the changes of a page: each object is searched once, for all of its changes. */
export class JournalCauses implements Causes {
  private readonly known = new Map<string, readonly JournalEntry[]>();

  /**
   * @param from the earliest time that is asked for, in milliseconds since the epoch
   * @param to the latest
   */
  constructor(
    private readonly journal: FleetAuditLog,
    private readonly from: number,
    private readonly to: number,
    readonly task: (id: string) => Task | undefined,
  ) {}

  actions(ref: string, from: number, to: number): readonly JournalEntry[] {
    const all = this.known.get(ref) ?? this.find(ref, this.from, this.to);
    this.known.set(ref, all);
    if (all.length === MAX_ACTIONS) return actionsOf(this.find(ref, from, to));
    const [since, until] = [iso(from), iso(to)];
    return actionsOf(all.filter(({ time }) => time >= since && time < until));
  }

  private find(ref: string, from: number, to: number): readonly JournalEntry[] {
    return this.journal.find({ ref, since: iso(from), until: iso(to), limit: MAX_ACTIONS });
  }
}

const actionsOf = (entries: readonly JournalEntry[]): JournalEntry[] => entries.filter(({ kind }) => kind === 'action');

const iso = (time: number): string => new Date(time).toISOString();
