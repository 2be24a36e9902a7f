import {
  ADMINISTRATOR,
  foldName,
  UniformGrant,
  type AccessAction,
  type AccessSubject,
  type Grant,
  type GrantKind,
  type RoleAssignment,
} from '@headgate/domain-contracts';
import type { GrantRules } from './bound-grant.js';
import { readerGrant } from './reader-grant.js';
import type { RoleGrant } from './role-grant.js';
import type { RoleHolder, Roles } from './roles.js';

/** The users who log in here. */
export interface LoginUsers {
  /** Whether users must log in. */
  readonly areRequired: boolean;
  isAdmin(login: string): boolean;
  /** Whether a login is that of no user who could log in now, such as one of a deleted account. */
  isGone(login: string): boolean;
}

const NO_USERS: LoginUsers = { areRequired: false, isAdmin: () => false, isGone: () => false };

/** The rights of users: from the allowlist of administrators, from roles, or without either. */
export class UserRights {
  private readonly admins: ReadonlySet<string>;

  /** @param admins the logins on the allowlist */
  constructor(
    admins: readonly string[],
    readonly roles: Roles,
    private readonly users = NO_USERS,
  ) {
    this.admins = new Set(admins.map(foldName));
  }

  /** The same with other assignments of roles, for the check of a change. */
  with(assignments: readonly RoleAssignment[]): UserRights {
    return new UserRights([...this.admins], this.roles.with(assignments), this.users);
  }

  /** Whether an allowlist of administrators, roles, or a login exist. */
  get enforced(): boolean {
    return this.hasAllowlist || this.roles.isEnabled || this.users.areRequired;
  }

  get hasAllowlist(): boolean {
    return this.admins.size > 0;
  }

  isListed(login: string): boolean {
    return this.admins.has(foldName(login));
  }

  /** Whether a user has their rights, or none, by an account of this service. */
  isDecidedByAccount(login: string): boolean {
    if (!this.users.areRequired || login === '') return false;
    return this.users.isGone(login) || (!this.isListed(login) && this.users.isAdmin(login));
  }

  /** Whether a user is an administrator of everything. */
  isAdmin(holder: RoleHolder): boolean {
    return this.of(holder).kind === 'administrator';
  }

  /** The rights that a user has now and later. They follow the changes of roles. */
  of(holder: RoleHolder): LiveRights {
    const { login } = holder;
    const gone = new UniformGrant('reader', login || 'A caller without a login', []);
    return this.live(login, this.roles.of(holder), () => (this.users.isGone(login) ? gone : undefined));
  }

  /** Those that everyone in a group has at least. */
  ofGroup(group: string): LiveRights {
    return this.live('', this.roles.ofGroup(group));
  }

  /** @param without the grant of a user who has no rights any more */
  private live(login: string, roles: RoleGrant, without = (): Grant | undefined => undefined): LiveRights {
    const reader = readerGrant(login);
    return new LiveRights(() => {
      if (!this.enforced) return ADMINISTRATOR;
      const gone = without();
      if (gone) return gone;
      if (this.isListed(login) || this.users.isAdmin(login) || roles.allowsAll('manage')) return ADMINISTRATOR;
      return this.roles.isEnabled ? roles : reader;
    }, roles);
  }
}

/** Rights that are computed for each decision, so that no one keeps a right that was taken away. */
export class LiveRights implements GrantRules {
  /** @param roles by which `choose` may have decided */
  constructor(
    private readonly choose: () => Grant | RoleGrant,
    readonly roles: RoleGrant,
  ) {}

  get current(): Grant | RoleGrant {
    return this.choose();
  }

  get kind(): GrantKind {
    return this.current.kind;
  }

  get label(): string {
    return this.current.label;
  }

  get readsShared(): boolean {
    return this.current.readsShared;
  }

  get version(): string {
    const { kind, version } = this.current;
    return `${kind} ${version}`;
  }

  allows(action: AccessAction, subject: AccessSubject): boolean {
    return this.current.allows(action, subject);
  }

  allowsFolder(action: AccessAction, path: string): boolean {
    return this.current.allowsFolder(action, path);
  }

  allowsAll(action: AccessAction): boolean {
    return this.current.allowsAll(action);
  }
}
