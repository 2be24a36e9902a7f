import { TaskStore, type Task, type TaskCount, type TaskJournal, type TaskMember } from '@headgate/domain-contracts';
import type { RegistryDatabase } from './registry-database.js';

const MAX_ENDED_TASKS = 1000;
/** Bulk tasks whose members are kept: 10,000 members take about 1 MB. */
const MAX_MEMBER_LISTS = 50;

interface TaskRow {
  readonly id: string;
  /** The task without its log and its members. */
  readonly body: string;
  /** Not selected in lists. */
  readonly log?: string;
}

interface MemberRow {
  readonly ref: string;
  readonly uid: string | null;
  readonly status: TaskMember['status'];
  readonly error: string | null;
  readonly next_task: string | null;
}

/** TaskStore over the registry. Keeps the newest 1,000 ended tasks, and the members of the newest 50 bulk tasks. */
export class SqliteTaskStore extends TaskStore {
  constructor(private readonly database: RegistryDatabase) {
    super();
  }

  override async put({ members = [], log, ...task }: Task, journal?: TaskJournal): Promise<void> {
    const hasEnded = task.status !== 'running';
    this.database.transaction(() => {
      this.database.run(
        `INSERT INTO task (id, status, started_at, kind, log, body, journal) VALUES (?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET status = excluded.status, log = excluded.log, body = excluded.body,
           journal = ${hasEnded ? 'NULL' : 'coalesce(excluded.journal, journal)'}`,
        task.id,
        task.status,
        task.startedAt,
        task.kind,
        log,
        JSON.stringify(task),
        journal && !hasEnded ? JSON.stringify(journal) : null,
      );
      for (const member of members) this.putMember(task.id, member);
      if (hasEnded) this.deleteOld();
    });
  }

  override get(id: string): Task | undefined {
    const row = this.database.get<TaskRow>('SELECT id, body, log FROM task WHERE id = ?', id);
    return row && this.withMembers(taskOf(row));
  }

  override journal(id: string): TaskJournal | undefined {
    const row = this.database.get<{ journal: string | null }>('SELECT journal FROM task WHERE id = ?', id);
    return row?.journal ? (JSON.parse(row.journal) as TaskJournal) : undefined;
  }

  override running(): readonly Task[] {
    return this.database
      .all<TaskRow>(`SELECT id, body, log FROM task WHERE status = 'running' ORDER BY started_at, id`)
      .map((row) => this.withMembers(taskOf(row)));
  }

  override recent(limit: number): readonly Task[] {
    return this.database
      .all<TaskRow>('SELECT id, body FROM task ORDER BY started_at DESC, id DESC LIMIT ?', limit)
      .map(taskOf);
  }

  override counts(): readonly TaskCount[] {
    const rows = this.database.all<TaskCount>(
      'SELECT kind, status, count(*) AS count FROM task GROUP BY kind, status ORDER BY kind, status',
    );
    return rows.map((row) => ({ ...row }));
  }

  override async deleteBefore(time: string): Promise<void> {
    this.database.run(`DELETE FROM task WHERE status <> 'running' AND started_at < ?`, time);
  }

  private putMember(task: string, { ref, uid, status, error, task: next }: TaskMember): void {
    this.database.run(
      `INSERT INTO task_member (task, ref, uid, status, error, next_task) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (task, ref) DO UPDATE SET uid = excluded.uid, status = excluded.status, error = excluded.error,
         next_task = excluded.next_task`,
      task,
      ref,
      uid ?? null,
      status,
      error ?? null,
      next ?? null,
    );
  }

  private withMembers(task: Task): Task {
    if (task.kind !== 'bulk') return task;
    const rows = this.database.all<MemberRow>(
      'SELECT ref, uid, status, error, next_task FROM task_member WHERE task = ? ORDER BY id',
      task.id,
    );
    return rows.length === 0 ? task : { ...task, members: rows.map(memberOf) };
  }

  private deleteOld(): void {
    this.database.run(
      `DELETE FROM task WHERE status <> 'running' AND started_at <
         (SELECT started_at FROM task ORDER BY started_at DESC LIMIT 1 OFFSET ${MAX_ENDED_TASKS - 1})`,
    );
    this.database.run(
      `DELETE FROM task_member WHERE task IN
         (SELECT id FROM task WHERE kind = 'bulk' ORDER BY status = 'running' DESC, started_at DESC
          LIMIT -1 OFFSET ${MAX_MEMBER_LISTS})`,
    );
  }
}

/** @throws Error that names the task */
function taskOf({ id, body, log = '' }: TaskRow): Task {
  try {
    return { ...(JSON.parse(body) as Task), log };
  } catch (cause) {
    throw new Error(`The task ${id} in the registry is damaged.`, { cause });
  }
}

const memberOf = ({ ref, uid, status, error, next_task: task }: MemberRow): TaskMember => ({
  ref,
  ...(uid === null ? {} : { uid }),
  status,
  ...(error === null ? {} : { error }),
  ...(task === null ? {} : { task }),
});
