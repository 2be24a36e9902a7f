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

/** Objects in memory, by key. */
class MemoryTable<T> {
  private readonly objects = new Map<string, T>();

  constructor(private readonly keyOf: (object: T) => string) {}

  get(key: string): T | undefined {
    return structuredClone(this.objects.get(key));
  }

  all(): readonly T[] {
    return [...this.objects].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => structuredClone(object));
  }

  async put(object: T): Promise<void> {
    this.objects.set(this.keyOf(object), structuredClone(object));
  }

  async change(key: string, change: (stored: T) => T | undefined): Promise<T | undefined> {
    const stored = this.get(key);
    const next = stored && change(stored);
    if (next) this.objects.set(this.keyOf(next), structuredClone(next));
    return next ?? stored;
  }

  async delete(key: string): Promise<boolean> {
    return this.objects.delete(key);
  }
}

/** LoginSessionStore in memory. */
export class MemoryLoginSessionStore extends LoginSessionStore {
  private readonly table = new MemoryTable<LoginSession>(({ id }) => id);
  override get = (id: string): LoginSession | undefined => this.table.get(id);
  override all = (): readonly LoginSession[] => this.table.all();
  override put = (session: LoginSession): Promise<void> => this.table.put(session);
  override change = (id: string, change: (stored: LoginSession) => LoginSession | undefined) =>
    this.table.change(id, change);
  override delete = (id: string): Promise<boolean> => this.table.delete(id);
}

/** AccountStore in memory. */
export class MemoryAccountStore extends AccountStore {
  private readonly table = new MemoryTable<Account>(({ login }) => login);
  override get = (login: string): Account | undefined => this.table.get(login);
  override all = (): readonly Account[] => this.table.all();
  override put = (account: Account): Promise<void> => this.table.put(account);
  override change = (login: string, change: (stored: Account) => Account | undefined) =>
    this.table.change(login, change);
  override delete = (login: string): Promise<boolean> => this.table.delete(login);
}

/** DeviceLoginStore in memory. */
export class MemoryDeviceLoginStore extends DeviceLoginStore {
  private readonly table = new MemoryTable<DeviceLogin>(({ id }) => id);
  override get = (id: string): DeviceLogin | undefined => this.table.get(id);
  override all = (): readonly DeviceLogin[] => this.table.all();
  override put = (login: DeviceLogin): Promise<void> => this.table.put(login);
  override change = (id: string, change: (stored: DeviceLogin) => DeviceLogin | undefined) =>
    this.table.change(id, change);
  override delete = (id: string): Promise<boolean> => this.table.delete(id);
}

/** UserGroupsStore in memory. */
export class MemoryUserGroupsStore extends UserGroupsStore {
  private readonly table = new MemoryTable<UserGroups>(({ login }) => login);
  override get = (login: string): UserGroups | undefined => this.table.get(login);
  override all = (): readonly UserGroups[] => this.table.all();
  override put = (groups: UserGroups): Promise<void> => this.table.put(groups);
  override change = (login: string, change: (stored: UserGroups) => UserGroups | undefined) =>
    this.table.change(login, change);
  override delete = (login: string): Promise<boolean> => this.table.delete(login);
}
