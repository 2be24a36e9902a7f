import { ACCESS_ACTIONS, isWithinFolder, type AccessAction, type AccessSubject } from '@headgate/domain-contracts';
import type { GrantRules } from './bound-grant.js';

/**
 * `viewer` reads and watches consoles; `operator` also types, and starts and stops; `admin` does everything else in the
 * folder.
 */
export const ROLES = ['viewer', 'operator', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** The path of a role that holds everywhere: in every folder, outside of all folders, and for the service itself. */
export const EVERYWHERE = '/';

/** A role of a user, or of an API token, in a folder and in those in it. */
export interface RoleEntry {
  readonly login?: string;
  /** The ID of an API token. Limits it further: it never has more rights than its creator. */
  readonly token?: string;
  /** The path of a folder, or `/`. */
  readonly folder: string;
  readonly role: Role;
}

const ACTIONS: Readonly<Record<Role, ReadonlySet<AccessAction>>> = {
  viewer: new Set<AccessAction>(['read', 'watch']),
  operator: new Set<AccessAction>(['read', 'watch', 'console', 'power']),
  admin: new Set<AccessAction>(ACCESS_ACTIONS),
};

/** The roles of the configuration. Without any, roles are off. */
export class Roles {
  constructor(private readonly entries: readonly RoleEntry[]) {}

  get isEnabled(): boolean {
    return this.entries.length > 0;
  }

  /** The rights of a user. A user without a role has none. */
  ofLogin(login: string): RoleGrant {
    const wanted = login.toLowerCase();
    const own = login === '' ? [] : this.entries.filter((entry) => entry.login?.toLowerCase() === wanted);
    return new RoleGrant(login || 'A caller without a login', own);
  }

  /** The roles by which an API token is limited; undefined if the configuration does not name it. */
  ofToken(id: string): RoleGrant | undefined {
    const own = this.entries.filter(({ token }) => token === id);
    return own.length === 0 ? undefined : new RoleGrant(`The API token ${id}`, own);
  }

  /** Whether a user has the role admin everywhere. */
  isAdmin(login: string): boolean {
    return this.ofLogin(login).allowsAll('manage');
  }
}

/** The rights that roles give. */
export class RoleGrant implements GrantRules {
  readonly kind = 'role';

  constructor(
    readonly label: string,
    readonly entries: readonly Pick<RoleEntry, 'folder' | 'role'>[],
  ) {}

  get readsShared(): boolean {
    return this.entries.length > 0;
  }

  allows(action: AccessAction, { folder }: AccessSubject): boolean {
    return folder === undefined ? this.allowsAll(action) : this.allowsFolder(action, folder);
  }

  allowsFolder(action: AccessAction, path: string): boolean {
    return this.entries.some(
      ({ folder, role }) => (folder === EVERYWHERE || isWithinFolder(path, folder)) && ACTIONS[role].has(action),
    );
  }

  allowsAll(action: AccessAction): boolean {
    return this.entries.some(({ folder, role }) => folder === EVERYWHERE && ACTIONS[role].has(action));
  }
}
