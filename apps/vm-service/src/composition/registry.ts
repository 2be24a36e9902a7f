import { join } from 'node:path';
import { AuditLog, DomainError, TaskStore, type AuditEntry, type Task } from '@headgate/domain-contracts';
import { RegistryDatabase, SqliteAuditLog, SqliteTaskStore } from '@headgate/registry-store';

interface Stores {
  readonly database: RegistryDatabase;
  readonly tasks: TaskStore;
  readonly audit: AuditLog;
}

/** The embedded store, which opens after the service began to listen: until then /readyz says 503 and writes are refused. */
export class Registry {
  private stores: Stores | undefined;

  constructor(private readonly dataDir: string) {}

  get isOpen(): boolean {
    return this.stores !== undefined;
  }

  /** @throws Error when the file can't be used */
  open(): void {
    const database = new RegistryDatabase(join(this.dataDir, 'registry.db')).open();
    this.stores = { database, tasks: new SqliteTaskStore(database), audit: new SqliteAuditLog(database) };
  }

  close(): void {
    this.stores?.database.close();
    this.stores = undefined;
  }

  /** @throws DomainError NOT_READY */
  get opened(): Stores {
    if (!this.stores) throw new DomainError('NOT_READY', 'The registry is not open yet.');
    return this.stores;
  }
}

export class RegistryTasks extends TaskStore {
  constructor(private readonly registry: Registry) {
    super();
  }

  override put(task: Task): void {
    this.registry.opened.tasks.put(task);
  }

  override get(id: string): Task | undefined {
    return this.registry.opened.tasks.get(id);
  }

  override running(): readonly Task[] {
    return this.registry.opened.tasks.running();
  }

  override recent(limit: number): readonly Task[] {
    return this.registry.opened.tasks.recent(limit);
  }
}

export class RegistryAudit extends AuditLog {
  constructor(private readonly registry: Registry) {
    super();
  }

  override append(entry: AuditEntry): void {
    this.registry.opened.audit.append(entry);
  }

  override recent(limit: number, ref?: string): readonly AuditEntry[] {
    return this.registry.opened.audit.recent(limit, ref);
  }
}
