import { TaskStore, type Task } from '@headgate/domain-contracts';
import type { RegistryDatabase } from './registry-database.js';

const MAX_ENDED_TASKS = 1000;

interface TaskRow {
  readonly body: string;
}

/** TaskStore over the registry. Keeps the newest 1,000 ended tasks. */
export class SqliteTaskStore extends TaskStore {
  constructor(private readonly database: RegistryDatabase) {
    super();
  }

  override put(task: Task): void {
    this.database.run(
      `INSERT INTO task (id, status, started_at, body) VALUES (?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET status = excluded.status, body = excluded.body`,
      task.id,
      task.status,
      task.startedAt,
      JSON.stringify(task),
    );
    if (task.status !== 'running') this.deleteOld();
  }

  override get(id: string): Task | undefined {
    const row = this.database.get<TaskRow>('SELECT body FROM task WHERE id = ?', id);
    return row && taskOf(row);
  }

  override running(): readonly Task[] {
    return this.database.all<TaskRow>(`SELECT body FROM task WHERE status = 'running' ORDER BY started_at`).map(taskOf);
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
  }
}

const taskOf = ({ body }: TaskRow): Task => JSON.parse(body) as Task;
