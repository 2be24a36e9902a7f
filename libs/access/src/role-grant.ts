import {
  ACCESS_ACTIONS,
  isWithinFolder,
  type AccessAction,
  type AccessSubject,
  type Role,
} from '@headgate/domain-contracts';
import type { GrantRules } from './bound-grant.js';
import { presentScope, type HeldRole } from './held-role.js';

const ACTIONS: Readonly<Record<Role, ReadonlySet<AccessAction>>> = {
  viewer: new Set<AccessAction>(['read', 'watch']),
  operator: new Set<AccessAction>(['read', 'watch', 'console', 'power', 'create']),
  admin: new Set<AccessAction>(ACCESS_ACTIONS),
};

/** Operators create instances in folders. Images, volumes and instances in no folder are for administrators. */
const isAllowedEverywhere = (role: Role, action: AccessAction): boolean =>
  ACTIONS[role].has(action) && !(role === 'operator' && action === 'create');

/** The rights that roles give. */
export class RoleGrant implements GrantRules {
  readonly kind = 'role';

  /** @param roles the present ones, whenever it is called */
  constructor(
    readonly label: string,
    private readonly roles: () => readonly HeldRole[],
  ) {}

  /** The present ones, without those whose place is gone. */
  get held(): readonly HeldRole[] {
    return this.roles().filter((role) => presentScope(role) !== undefined);
  }

  get readsShared(): boolean {
    return this.held.length > 0;
  }

  get version(): string {
    return JSON.stringify(this.held.map(({ id, role, scope }) => [id, role, scope]));
  }

  allows(action: AccessAction, subject: AccessSubject): boolean {
    return this.decidedBy(action, subject) !== undefined;
  }

  allowsFolder(action: AccessAction, path: string): boolean {
    return this.decidedInFolder(action, path) !== undefined;
  }

  allowsAll(action: AccessAction): boolean {
    return this.decidedForAll(action) !== undefined;
  }

  /** The role that allows an action on one instance. */
  decidedBy(action: AccessAction, { instance, folder }: AccessSubject): HeldRole | undefined {
    return (
      (folder === undefined ? this.decidedForAll(action) : this.decidedInFolder(action, folder)) ??
      this.roles().find(
        (role) => role.kind === 'context' && role.name() === instance.ref.context && ACTIONS[role.role].has(action),
      )
    );
  }

  /** The role that allows an action on everything that will ever be in a folder, whatever its context. */
  decidedInFolder(action: AccessAction, path: string): HeldRole | undefined {
    return this.roles().find((role) => {
      if (!ACTIONS[role.role].has(action)) return false;
      if (role.kind !== 'folder') return role.kind === 'everything';
      const folder = role.path();
      return folder !== undefined && isWithinFolder(path, folder);
    });
  }

  /** The role that allows an action on everything. */
  decidedForAll(action: AccessAction): HeldRole | undefined {
    return this.roles().find((role) => role.kind === 'everything' && isAllowedEverywhere(role.role, action));
  }
}
