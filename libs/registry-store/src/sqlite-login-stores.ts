import {
  AccountStore,
  DeviceLoginStore,
  LoginSessionStore,
  UserGroupsStore,
  type Account,
  type DeviceLogin,
  type LoginSession,
  type UserGroups,
} from '@headgate/domain-contracts';
import type { RegistryDatabase } from './registry-database.js';

/** A table of the registry with the columns id and body, which has the object as JSON. */
class JsonTable<T> {
  constructor(
    private readonly database: RegistryDatabase,
    private readonly table: 'account' | 'login_session' | 'device_login' | 'user_groups',
    private readonly keyOf: (object: T) => string,
  ) {}

  get(key: string): T | undefined {
    const row = this.database.get<{ body: string }>(`SELECT body FROM ${this.table} WHERE id = ?`, key);
    return row && (JSON.parse(row.body) as T);
  }

  all(): readonly T[] {
    return this.database
      .all<{ body: string }>(`SELECT body FROM ${this.table} ORDER BY id`)
      .map(({ body }) => JSON.parse(body) as T);
  }

  put(object: T): void {
    const [id, body] = [this.keyOf(object), JSON.stringify(object)];
    this.database.run(`INSERT OR REPLACE INTO ${this.table} (id, body) VALUES (?, ?)`, id, body);
  }

  change(key: string, change: (stored: T) => T | undefined): T | undefined {
    return this.database.transaction(() => {
      const stored = this.get(key);
      const next = stored && change(stored);
      if (next) this.put(next);
      return next ?? stored;
    });
  }

  delete(key: string): boolean {
    return this.database.run(`DELETE FROM ${this.table} WHERE id = ?`, key) > 0;
  }
}

/** LoginSessionStore over the registry. */
export class SqliteLoginSessionStore extends LoginSessionStore {
  private readonly table: JsonTable<LoginSession>;

  constructor(database: RegistryDatabase) {
    super();
    this.table = new JsonTable(database, 'login_session', ({ id }) => id);
  }

  override get(id: string): LoginSession | undefined {
    return this.table.get(id);
  }

  override all(): readonly LoginSession[] {
    return this.table.all();
  }

  override async put(session: LoginSession): Promise<void> {
    this.table.put(session);
  }

  override async change(id: string, change: (stored: LoginSession) => LoginSession | undefined) {
    return this.table.change(id, change);
  }

  override async delete(id: string): Promise<boolean> {
    return this.table.delete(id);
  }
}

/** AccountStore over the registry. */
export class SqliteAccountStore extends AccountStore {
  private readonly table: JsonTable<Account>;

  constructor(database: RegistryDatabase) {
    super();
    this.table = new JsonTable(database, 'account', ({ login }) => login);
  }

  override get(login: string): Account | undefined {
    return this.table.get(login);
  }

  override all(): readonly Account[] {
    return this.table.all();
  }

  override async put(account: Account): Promise<void> {
    this.table.put(account);
  }

  override async change(login: string, change: (stored: Account) => Account | undefined) {
    return this.table.change(login, change);
  }

  override async delete(login: string): Promise<boolean> {
    return this.table.delete(login);
  }
}

/** DeviceLoginStore over the registry. */
export class SqliteDeviceLoginStore extends DeviceLoginStore {
  private readonly table: JsonTable<DeviceLogin>;

  constructor(database: RegistryDatabase) {
    super();
    this.table = new JsonTable(database, 'device_login', ({ id }) => id);
  }

  override get(id: string): DeviceLogin | undefined {
    return this.table.get(id);
  }

  override all(): readonly DeviceLogin[] {
    return this.table.all();
  }

  override async put(login: DeviceLogin): Promise<void> {
    this.table.put(login);
  }

  override async change(id: string, change: (stored: DeviceLogin) => DeviceLogin | undefined) {
    return this.table.change(id, change);
  }

  override async delete(id: string): Promise<boolean> {
    return this.table.delete(id);
  }
}

/** UserGroupsStore over the registry. */
export class SqliteUserGroupsStore extends UserGroupsStore {
  private readonly table: JsonTable<UserGroups>;

  constructor(database: RegistryDatabase) {
    super();
    this.table = new JsonTable(database, 'user_groups', ({ login }) => login);
  }

  override get(login: string): UserGroups | undefined {
    return this.table.get(login);
  }

  override all(): readonly UserGroups[] {
    return this.table.all();
  }

  override async put(groups: UserGroups): Promise<void> {
    this.table.put(groups);
  }

  override async change(login: string, change: (stored: UserGroups) => UserGroups | undefined) {
    return this.table.change(login, change);
  }

  override async delete(login: string): Promise<boolean> {
    return this.table.delete(login);
  }
}
