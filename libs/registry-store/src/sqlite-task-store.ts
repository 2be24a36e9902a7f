import { TaskStore, type Task } from '@headgate/domain-contracts';
import type { RegistryDatabase } from './registry-database.js';

/** How many ended tasks are kept. */
const KEPT = 1000;

/** TaskStore over the embedded database. */
export class SqliteTaskStore extends TaskStore {
  constructor(private readonly database: RegistryDatabase) {
    super();
  }

  override put(task: Task): void {
    this.database
      .statement(
        `INSERT INTO task (id, status, started_at, body) VALUES (?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET status = excluded.status, body = excluded.body`,
      )
      .run(task.id, task.status, task.startedAt, JSON.stringify(task));
    if (task.status !== 'running') this.forgetOld();
  }

  override get(id: string): Task | undefined {
    return read(this.database.statement('SELECT body FROM task WHERE id = ?').get(id));
  }

  override running(): readonly Task[] {
    return this.database
      .statement(`SELECT body FROM task WHERE status = 'running' ORDER BY started_at`)
      .all()
      .flatMap((row) => read(row) ?? []);
  }

  override recent(limit: number): readonly Task[] {
    return this.database
      .statement('SELECT body FROM task ORDER BY started_at DESC, id DESC LIMIT ?')
      .all(limit)
      .flatMap((row) => read(row) ?? []);
  }

  private forgetOld(): void {
    this.database
      .statement(
        `DELETE FROM task WHERE status <> 'running' AND started_at <
           (SELECT started_at FROM task ORDER BY started_at DESC LIMIT 1 OFFSET ${KEPT - 1})`,
      )
      .run();
  }
}

const read = (row: Record<string, unknown> | undefined): Task | undefined =>
  row === undefined ? undefined : (JSON.parse(String(row['body'])) as Task);
