import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { ChangeView, ChangesQuery } from '@headgate/api-contracts';
import {
  Clock,
  DomainError,
  FleetAuditLog,
  formatRef,
  parseRef,
  TaskStore,
  type Caller,
} from '@headgate/domain-contracts';
import { FleetReader, type FleetEntry } from '@headgate/fleet';
import type { PastChange } from '@headgate/history';
import { PastLists } from '../fleet/past-lists.js';
import { presentEntry } from '../fleet/present.js';
import { mayReadPast } from '../fleet/readable.js';
import { mayReadTask } from '../tasks/readable-task.js';
import { AFTER_MS, BEFORE_MS, findCause, type Causes, type InstanceChange } from './find-cause.js';
import { JournalCauses } from './journal-causes.js';

const DEFAULT_LIMIT = 100;
const DEFAULT_MS = 86_400_000;
const CHANGES_PER_TURN = 50;

/** Reads what has changed in the lists, with the probable causes from the journal and the tasks. */
@Injectable()
export class ReadChanges {
  constructor(
    private readonly past: PastLists,
    private readonly fleet: FleetReader,
    private readonly journal: FleetAuditLog,
    private readonly tasks: TaskStore,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError INVALID_INPUT, INVALID_REF, NOT_SUPPORTED */
  async read(query: ChangesQuery, caller: Caller): Promise<{ changes: ChangeView[]; cursor?: string }> {
    const { limit, cursor: after, ref, context } = query;
    const { from, to } = this.rangeOf(query);
    await this.fleet.whenSynced();
    const { grant } = caller;
    const mayRead = (entry: FleetEntry | undefined): boolean => !entry || mayReadPast(entry, grant, this.fleet);
    const { changes, cursor } = await this.past.history.changes({
      from,
      to,
      ...(ref !== undefined && { ref: formatRef(parseRef(ref)) }),
      ...(context !== undefined && { context }),
      ...(after !== undefined && { after }),
      limit: limit === undefined ? DEFAULT_LIMIT : Number(limit),
      isVisible: (change) => mayRead(change.before) && mayRead(change.after) && isShown(change),
    });
    const presented: ChangeView[] = [];
    if (changes.length > 0) {
      const causes = this.causesOf(changes, caller);
      for (const [index, change] of changes.entries()) {
        presented.push(present(change, causes));
        // Others have their turn: the journal is asked for each instance.
        if (index % CHANGES_PER_TURN === 0) await nextTurn();
      }
    }
    return { changes: presented, ...(cursor !== undefined && { cursor }) };
  }

  private rangeOf({ from, to }: ChangesQuery): { from: number; to: number } {
    const now = this.clock.now();
    const end = to === undefined ? now + 1 : Date.parse(to);
    const start = from === undefined ? end - DEFAULT_MS : Date.parse(from);
    for (const [name, time] of [
      ['to', end],
      ['from', start],
    ] as const)
      if (time > now + 1)
        throw new DomainError('INVALID_INPUT', `${name}: the time is in the future; use one until now.`);
    if (start >= end) throw new DomainError('INVALID_INPUT', 'from must be before to.');
    return { from: start, to: end };
  }

  private causesOf(changes: readonly PastChange[], caller: Caller): Causes {
    const times = changes.map(({ time }) => time);
    const [from, to] = [Math.min(...times) - BEFORE_MS, Math.max(...times) + AFTER_MS];
    return new JournalCauses(this.journal, from, to, (id) => {
      const task = this.tasks.get(id);
      return task && mayReadTask(caller, task) ? task : undefined;
    });
  }
}

/** Some fields of an instance are in no list. */
const isShown = (change: InstanceChange): boolean => change.type !== 'changed' || fieldsOf(change).length > 0;

function present(change: PastChange, causes: Causes): ChangeView {
  const time = iso(change.time);
  if (change.type === 'gap') return { time, type: 'gap', since: iso(change.since) };
  const { type, isFromGap } = change;
  const ref = formatRef((change.after ?? change.before)!.instance.ref);
  const fields = fieldsOf(change);
  const before = chosen(change.before, fields);
  const after = chosen(change.after, fields);
  return {
    time,
    type,
    ref,
    ...(before && { before }),
    ...(after && { after }),
    ...(isFromGap && { inGap: true }),
    cause: findCause(change, ref, fields, causes),
  };
}

type Shown = Readonly<Record<string, unknown>>;

const shown = (entry: FleetEntry | undefined): Shown => (entry ? { ...presentEntry(entry) } : {});

/** The names of the fields that differ. */
function fieldsOf({ before, after }: InstanceChange): string[] {
  const [one, other] = [shown(before), shown(after)];
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].filter((name) => JSON.stringify(one[name]) !== JSON.stringify(other[name]));
}

function chosen(entry: FleetEntry | undefined, fields: readonly string[]): Shown | undefined {
  if (!entry) return undefined;
  const all = shown(entry);
  return Object.fromEntries(fields.map((name) => [name, all[name]]).filter(([, value]) => value !== undefined));
}

const iso = (time: number): string => new Date(time).toISOString();
