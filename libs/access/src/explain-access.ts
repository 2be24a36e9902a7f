import { ACCESS_ACTIONS, type AccessAction, type AccessSubject } from '@headgate/domain-contracts';
import { BoundGrant } from './bound-grant.js';
import type { HeldRole } from './held-role.js';
import type { Need } from './need.js';
import { may, refusalOf, type Target } from './policy.js';
import { RoleGrant } from './role-grant.js';
import type { LiveRights, UserRights } from './user-rights.js';

/** The reason why an action is allowed or refused. */
export type AccessReason =
  /** A role, or that no role allows it. */
  | { readonly by: 'role'; readonly role?: HeldRole }
  /** The user is on the allowlist of administrators. */
  | { readonly by: 'allowlist' }
  /** The account of the user is that of an administrator, or the user can't log in any more. */
  | { readonly by: 'account' }
  /** The rights of everyone: all of them without an allowlist and roles, or those of a reader. */
  | { readonly by: 'default' };

export interface AccessAnswer {
  readonly action: AccessAction;
  readonly allowed: boolean;
  readonly reason: AccessReason;
  /** Why it is refused, in the words of the refusal. */
  readonly refusal?: string;
}

/** The object of the question: one instance, a folder, or everything. */
export type AccessObject = { readonly instance: AccessSubject } | { readonly folder: string } | { readonly all: true };

/**
 * What a user may do, action by action, and why. The policy that decides about requests decides here, too; the reason
 * is found by the grant with the same search.
 */
export function explainAccess(
  rights: LiveRights,
  users: Pick<UserRights, 'isListed' | 'isDecidedByAccount'>,
  login: string,
  object: AccessObject,
): AccessAnswer[] {
  const grant = new BoundGrant(rights, () => undefined);
  const target: Target =
    'instance' in object ? { instance: object.instance } : 'folder' in object ? { folder: object.folder } : {};
  return ACCESS_ACTIONS.map((action) => {
    const need = needOf(action, object);
    const allowed = may(grant, need, target);
    const refusal = allowed ? undefined : refusalOf(grant, need, target);
    const reason = users.isDecidedByAccount(login)
      ? ({ by: 'account' } as const)
      : reasonOf(rights, users.isListed(login), action, object);
    return { action, allowed, reason, ...(refusal !== undefined && { refusal }) };
  });
}

function needOf(action: AccessAction, object: AccessObject): Need {
  if ('instance' in object) return { of: 'instance', action, at: 'path' };
  return 'folder' in object ? { of: 'folder', action, fields: ['folder'] } : { of: 'all', action };
}

function reasonOf(rights: LiveRights, isListed: boolean, action: AccessAction, object: AccessObject): AccessReason {
  if (isListed) return { by: 'allowlist' };
  const { current, roles } = rights;
  if (current.kind === 'reader') return { by: 'default' };
  const administrator = roles.decidedForAll('manage');
  if (current.kind === 'administrator' && administrator === undefined) return { by: 'default' };
  const role = current instanceof RoleGrant ? decidedBy(current, action, object) : administrator;
  return { by: 'role', ...(role && { role }) };
}

function decidedBy(grant: RoleGrant, action: AccessAction, object: AccessObject): HeldRole | undefined {
  if ('instance' in object) return grant.decidedBy(action, object.instance);
  return 'folder' in object ? grant.decidedInFolder(action, object.folder) : grant.decidedForAll(action);
}
