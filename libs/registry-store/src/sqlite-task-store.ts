import { TaskStore, type Task } from '@headgate/domain-contracts';
import type { RegistryDatabase } from './registry-database.js';

const MAX_ENDED_TASKS = 1000;
/** Bulk tasks whose members are kept: 10,000 members take about 1 MB. */
const MAX_MEMBER_LISTS = 50;

interface TaskRow {
  readonly body: string;
  /** Only of bulk tasks, and not selected in lists. */
  readonly members?: string | null;
}

/** TaskStore over the registry. Keeps the newest 1,000 ended tasks, and the members of the newest 50 bulk tasks. */
export class SqliteTaskStore extends TaskStore {
  constructor(private readonly database: RegistryDatabase) {
    super();
  }

  override put({ members, ...task }: Task): void {
    this.database.run(
      `INSERT INTO task (id, status, started_at, body, members) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET status = excluded.status, body = excluded.body, members = excluded.members`,
      task.id,
      task.status,
      task.startedAt,
      JSON.stringify(task),
      members ? JSON.stringify(members) : null,
    );
    if (task.status !== 'running') this.deleteOld();
  }

  override get(id: string): Task | undefined {
    const row = this.database.get<TaskRow>('SELECT body, members FROM task WHERE id = ?', id);
    return row && taskOf(row);
  }

  override running(): readonly Task[] {
    return this.database
      .all<TaskRow>(`SELECT body, members FROM task WHERE status = 'running' ORDER BY started_at`)
      .map(taskOf);
  }

  override recent(limit: number): readonly Task[] {
    return this.database
      .all<TaskRow>('SELECT body FROM task ORDER BY started_at DESC, id DESC LIMIT ?', limit)
      .map(taskOf);
  }

  private deleteOld(): void {
    this.database.run(
      `DELETE FROM task WHERE status <> 'running' AND started_at <
         (SELECT started_at FROM task ORDER BY started_at DESC LIMIT 1 OFFSET ${MAX_ENDED_TASKS - 1})`,
    );
    this.database.run(
      `UPDATE task SET members = NULL WHERE members IS NOT NULL AND id NOT IN
         (SELECT id FROM task WHERE members IS NOT NULL ORDER BY status = 'running' DESC, started_at DESC
          LIMIT ${MAX_MEMBER_LISTS})`,
    );
  }
}

function taskOf({ body, members }: TaskRow): Task {
  const task = JSON.parse(body) as Task;
  return members ? { ...task, members: JSON.parse(members) as Task['members'] } : task;
}
