import type { Task, TaskMember } from '@headgate/domain-contracts';
import { TaskLog, type LogPart } from './task-log.js';
import { TaskMembers } from './task-members.js';
import type { LiveTask } from './task-reader.js';

/** How many lines at the end of the earlier log are looked for in the next one, if its beginning was cut. */
const OVERLAP_LINES = 5;

/** A task that another replica runs, as the store shows it. */
export class FollowedTask implements LiveTask {
  private readonly lines: TaskLog;
  private members: TaskMembers | undefined;
  private readonly listeners = new Set<() => void>();

  /** @param onIdle called when the last listener is gone */
  constructor(
    private task: Task,
    private readonly onIdle: () => void,
  ) {
    this.lines = new TaskLog(task.log);
    this.members = task.members && new TaskMembers(task.members);
  }

  get current(): Task {
    return this.task;
  }

  get summary(): Task {
    const { members: _members, ...task } = this.task;
    return { ...task, log: '' };
  }

  get logEnd(): number {
    return this.lines.end;
  }

  logSince(offset: number): LogPart {
    return this.lines.since(offset);
  }

  get membersVersion(): number {
    return this.members?.version ?? 0;
  }

  membersSince(version: number): readonly TaskMember[] {
    return this.members?.since(version) ?? [];
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size === 0) this.onIdle();
    };
  }

  update(task: Task): void {
    const added = addedLines(this.task.log, task.log);
    if (added !== '') this.lines.append(added);
    this.members ??= task.members && new TaskMembers(task.members);
    const known = new Map((this.task.members ?? []).map((member) => [member.ref, member]));
    for (const member of task.members ?? []) if (!isSame(member, known.get(member.ref))) this.members?.set(member);
    this.task = task;
    for (const listener of [...this.listeners]) listener();
  }
}

const isSame = (a: TaskMember, b: TaskMember | undefined): boolean =>
  a.status === b?.status && a.error === b.error && a.task === b.task;

/** The lines that a log has after an earlier state of it. Its oldest lines may have been cut since. */
export function addedLines(before: string, after: string): string {
  if (after === before) return '';
  if (before === '') return after;
  if (after.startsWith(`${before}\n`)) return after.slice(before.length + 1);
  const end = before.split('\n').slice(-OVERLAP_LINES).join('\n');
  const at = `\n${after}\n`.lastIndexOf(`\n${end}\n`);
  return at < 0 ? after : after.slice(at + end.length + 1);
}
