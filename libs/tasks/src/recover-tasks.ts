import {
  countMembers,
  messageOf,
  type Task,
  type TaskJournal,
  type TaskKind,
  type TaskMember,
} from '@headgate/domain-contracts';
import { revive, type LiveJournal } from './live-journal.js';
import { INTERRUPTED, MAY_HAVE_RUN, type RunDeps } from './running-task.js';

/** A task that an earlier process began, and that can continue. */
export interface RecoveredTask {
  readonly task: Task;
  readonly journal: LiveJournal;
}

/**
 * Ends the tasks of an earlier process, or of a replica that is gone, that can't continue.
 * @param versionOf the version of the journals of a kind; undefined if its tasks can't continue
 * @returns the others
 */
export async function recoverTasks(
  tasks: readonly Task[],
  { store, clock, log, onEnd }: RunDeps,
  versionOf: (kind: TaskKind) => number | undefined,
): Promise<RecoveredTask[]> {
  const recovered: RecoveredTask[] = [];
  for (const task of tasks) {
    const found = readJournal(task);
    if (typeof found === 'object') {
      recovered.push({ task, journal: revive(found) });
      continue;
    }
    const members = task.members?.map(interrupted);
    const { bulk } = task;
    const ended: Task = {
      ...task,
      status: 'error',
      error: INTERRUPTED,
      log: [task.log, found, INTERRUPTED].filter(Boolean).join('\n'),
      finishedAt: clock.iso(),
      ...(bulk && members ? { bulk: { ...bulk, counts: countMembers(members) }, members } : {}),
    };
    try {
      await store.put(ended);
      onEnd?.(ended);
    } catch (error) {
      log.warn({ id: task.id, reason: messageOf(error) }, 'writing the task failed');
    }
  }
  return recovered;

  /** The journal, or why the task can't continue. */
  function readJournal({ id, kind }: Task): TaskJournal | string {
    try {
      const journal = store.journal(id);
      const version = versionOf(kind);
      if (!journal || version === undefined) return '';
      if (journal.version === version && isComplete(journal)) return journal;
      return `Its journal has the version ${journal.version}; this release continues version ${version}.`;
    } catch (error) {
      log.warn({ id, reason: messageOf(error) }, 'reading the journal of a task failed');
      return `Its journal can't be read: ${messageOf(error)}`;
    }
  }
}

/** @throws Error for JSON that is no journal */
function isComplete({ steps, input, caller }: TaskJournal): boolean {
  if (!Array.isArray(steps) || typeof input !== 'object' || typeof caller?.login !== 'string')
    throw new Error('it is incomplete');
  return true;
}

/** A process that was killed wrote the results of its last second nowhere. */
const interrupted = (member: TaskMember): TaskMember => {
  const { ref, uid, status } = member;
  const known = { ref, ...(uid && { uid }) };
  if (status === 'waiting') return { ...known, status: 'skipped', error: INTERRUPTED };
  return status === 'running' ? { ...known, status: 'error', error: MAY_HAVE_RUN } : member;
};
