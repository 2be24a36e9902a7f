import {
  DomainError,
  type Task,
  type TaskJournal,
  type TaskMember,
  type TaskRequest,
} from '@headgate/domain-contracts';
import type { KubeObject } from '../../api/kube-object.js';
import { hashedName } from '../hashed-name.js';

/** The format of the objects that this release reads and writes. */
export const TASK_FORMAT = 1;
/** Members of one object. With long errors, 250 members take about 150 KB. */
export const MEMBERS_PER_OBJECT = 250;
/** The end of a log that is stored: a task may write once a second. */
const MAX_STORED_LOG_CHARS = 32_768;

export interface TaskSpec {
  readonly formatVersion: number;
  readonly id: string;
  /** The replica that runs the task, or ran it to its end. */
  readonly runner: string;
  /** Grows with each write. */
  readonly revision: number;
  /** The ID of the last write, so that a write without a response can be found. */
  readonly write: string;
  /** False until all members are stored; such a task was not acknowledged yet. */
  readonly complete: boolean;
  /** Without its log and its members. */
  readonly task: Omit<Task, 'log' | 'members'>;
  readonly log: string;
  readonly memberCount: number;
  readonly journal?: TaskJournal;
  readonly request?: TaskRequest;
}

export interface TaskObject extends KubeObject {
  readonly spec: TaskSpec;
}

export interface TaskMembersObject extends KubeObject {
  readonly spec: {
    readonly formatVersion: number;
    /** The ID of the task. */
    readonly task: string;
    readonly index: number;
    readonly revision: number;
    readonly members: readonly TaskMember[];
  };
}

/** The name of the object of a task: its ID, if that can be one. */
export function objectNameOf(id: string): string {
  if (/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(id) && id.length <= 200) return id;
  return hashedName('task', id);
}

export const membersNameOf = (id: string, index: number): string =>
  `${objectNameOf(id)}-m${String(index).padStart(3, '0')}`;

/** The last lines of a log, as a task's log in memory is cut. */
export function storedLog(log: string): string {
  if (log.length <= MAX_STORED_LOG_CHARS) return log;
  const [, note = '', lines = ''] = /^(?:\[([\d,]+) earlier lines were cut\]\n)?([^]*)$/.exec(log) ?? [];
  const kept = lines.slice(-MAX_STORED_LOG_CHARS);
  const tail = kept.slice(kept.indexOf('\n') + 1);
  const cut = lines.slice(0, lines.length - tail.length).split('\n').length - 1;
  const all = Number(note.replaceAll(',', '') || 0) + cut;
  return `[${all.toLocaleString('en')} earlier lines were cut]\n${tail}`;
}

/** @throws DomainError NOT_READY for an object that this release can't read */
export function expectReadableTask<T extends TaskObject | TaskMembersObject>(object: T): T {
  const name = `${object.metadata.namespace}/${object.metadata.name}`;
  const spec = object.spec as Partial<TaskSpec & TaskMembersObject['spec']> | undefined;
  const { formatVersion } = spec ?? {};
  if (typeof formatVersion === 'number' && formatVersion > TASK_FORMAT)
    throw new DomainError(
      'NOT_READY',
      `The store can't be used: a newer release wrote the task ${name} (format ${formatVersion}, this release reads ${TASK_FORMAT}). It was left as it is; use the newer release.`,
    );
  const isTask = typeof spec?.id === 'string' && typeof spec.runner === 'string' && typeof spec.task === 'object';
  const isMembers = typeof spec?.index === 'number' && Array.isArray(spec.members);
  if (formatVersion === TASK_FORMAT && typeof spec?.revision === 'number' && (isTask || isMembers)) return object;
  throw new DomainError(
    'NOT_READY',
    `The store can't be used: the task ${name} is damaged. It was left as it is; delete it to give it up.`,
  );
}
