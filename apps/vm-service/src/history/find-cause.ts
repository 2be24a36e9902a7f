import type { ChangeCauseView } from '@headgate/api-contracts';
import type { JournalEntry, Task } from '@headgate/domain-contracts';
import type { PastChange } from '@headgate/history';

export type InstanceChange = Exclude<PastChange, { readonly type: 'gap' }>;

/** The actions and tasks that may be the cause of changes. */
export interface Causes {
  /** Actions that were recorded for an object in a time, in milliseconds since the epoch; the newest first. */
  actions(ref: string, from: number, to: number): readonly JournalEntry[];
  /** The task, if the caller may read it. */
  task(id: string): Task | undefined;
}

/** An action is recorded when its work has ended, and its watch may have reported the change before. */
export const AFTER_MS = 15_000;
/** A graceful shutdown, or the start of a guest, changes the entry again and again. */
export const BEFORE_MS = 120_000;
/** How long ago an instance that is new to the list may have been created. */
const NEW_MS = 120_000;

/** Actions that change one field only, by the beginning of their names. */
const FIELDS_OF_ACTIONS: readonly (readonly [action: RegExp, field: string])[] = [
  [/^(add|remove) tag /, 'tags'],
  [/^(add to|remove from) folder/, 'folder'],
];

/**
 * Who or what has probably caused a change: the task that held the instance, or the action that was recorded for it at
 * about that time. The backends don't say it.
 * @param fields the names of the changed fields
 */
export function findCause(
  change: InstanceChange,
  ref: string,
  fields: readonly string[],
  causes: Causes,
): ChangeCauseView {
  if (change.isFromGap) return { by: 'gap' };
  const names = fields.filter((field) => field !== 'stale');
  if (change.type === 'detached' || (change.type === 'changed' && names.length === 0)) return { by: 'context' };
  return (
    taskOf(change, causes) ??
    actionOf(change, ref, names, causes) ??
    folderActionOf(change, names, causes) ??
    other(change)
  );
}

function taskOf({ before, after }: InstanceChange, causes: Causes): ChangeCauseView | undefined {
  const busy = after?.busy ?? before?.busy;
  if (!busy) return undefined;
  const task = causes.task(busy.task);
  return { by: 'task', action: busy.operation, ...(task && { task: task.id, caller: task.caller }) };
}

function actionOf(
  { time }: InstanceChange,
  ref: string,
  fields: readonly string[],
  causes: Causes,
): ChangeCauseView | undefined {
  const distance = (entry: JournalEntry): number => Math.abs(time - Date.parse(entry.time));
  const [nearest] = causes
    .actions(ref, time - BEFORE_MS, time + AFTER_MS)
    .filter((entry) => explains(entry, time, fields))
    .toSorted((one, another) => distance(one) - distance(another));
  return nearest && present(nearest);
}

function explains(
  { action, time, route, outcome }: JournalEntry,
  changedAt: number,
  fields: readonly string[],
): boolean {
  // Consoles and exports change nothing.
  if (outcome === 'denied' || route.startsWith('GET ')) return false;
  const [, only] = FIELDS_OF_ACTIONS.find(([pattern]) => pattern.test(action)) ?? [];
  if (only === undefined) return true;
  return fields.every((field) => field === only) && changedAt - Date.parse(time) < AFTER_MS;
}

/** A folder that was moved or removed is another folder for each of its members. */
function folderActionOf(
  { time, before, after }: InstanceChange,
  fields: readonly string[],
  causes: Causes,
): ChangeCauseView | undefined {
  if (fields.some((field) => field !== 'folder')) return undefined;
  const paths = new Set([before, after].flatMap((entry) => withAncestors(entry?.folder)));
  for (const path of paths) {
    const [found] = causes
      .actions(`folder/${path}`, time - AFTER_MS, time + AFTER_MS)
      .filter(({ outcome }) => outcome === 'ok');
    if (found) return present(found);
  }
  return undefined;
}

const withAncestors = (path: string | undefined): string[] =>
  path === undefined ? [] : path.split('/').map((_part, index, parts) => parts.slice(0, index + 1).join('/'));

const present = ({ caller, action, time }: JournalEntry): ChangeCauseView => ({ by: 'action', caller, action, time });

/** An instance also comes into the list when its context does. */
function other({ type, time, after }: InstanceChange): ChangeCauseView {
  if (type !== 'added') return { by: 'outside' };
  const createdAt = Date.parse(after?.instance.createdAt ?? '');
  return { by: time - createdAt <= NEW_MS ? 'outside' : 'unknown' };
}
