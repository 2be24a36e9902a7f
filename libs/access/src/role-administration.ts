import {
  DomainError,
  type Audit,
  type Caller,
  type Clock,
  type RoleAssignment,
  type RoleScope,
  type RoleStore,
  type RoleSubject,
} from '@headgate/domain-contracts';
import { isVoid, type HeldRole } from './held-role.js';
import { everything } from './need.js';
import { expectAllowed } from './policy.js';
import { subjectText, type RolePlaces } from './roles.js';
import { UserRights } from './user-rights.js';

export interface RoleAdministrationDeps {
  readonly store: RoleStore;
  readonly rights: UserRights;
  readonly places: RolePlaces;
  readonly hasContext: (name: string) => boolean;
  readonly clock: Clock;
  readonly audit: Audit;
}

/** The checks of all changes of roles, which run one after the other. */
export class RoleAdministration {
  private last: Promise<unknown> = Promise.resolve();

  constructor(readonly deps: RoleAdministrationDeps) {}

  /** Runs a change when the changes before it have ended: two of them could remove each other's administrator. */
  inTurn<T>(change: () => Promise<T>): Promise<T> {
    const work = this.last.then(change);
    this.last = work.catch(() => undefined);
    return work;
  }

  /** @throws DomainError ROLE_NOT_FOUND; CONFLICT for one of the configuration */
  find(id: string): RoleAssignment {
    const found = this.deps.rights.roles.all().find((one) => one.id === id);
    if (found?.assignment) return found.assignment;
    if (!found) throw new DomainError('ROLE_NOT_FOUND', `There is no role ${id.slice(0, 40)}.`);
    throw new DomainError(
      'CONFLICT',
      `This role of ${subjectText(found.subject)} is in the configuration file; change it there, and restart the service.`,
    );
  }

  /**
   * The ID of the place of a scope.
   * @throws DomainError FOLDER_NOT_FOUND, CONTEXT_NOT_FOUND
   */
  placeOf({ folder, context }: RoleScope): string {
    const { places, hasContext } = this.deps;
    if (folder !== undefined) {
      const id = places.idOf(folder);
      if (id === undefined) throw new DomainError('FOLDER_NOT_FOUND', `scope.folder: there is no folder ${folder}.`);
      return id;
    }
    if (context === undefined) return '';
    if (!hasContext(context))
      throw new DomainError('CONTEXT_NOT_FOUND', `scope.context: there is no context ${context.slice(0, 100)}.`);
    return places.contextIdOf(context);
  }

  /**
   * Refuses assignments with which everyone is locked out, or everyone is let in.
   * @param assignments all of them after the change
   * @throws DomainError CONFLICT, NOT_PERMITTED
   */
  expectManageable(assignments: readonly RoleAssignment[], caller: Caller): void {
    const { rights } = this.deps;
    // Another change, which this one has waited for, may have taken the right away.
    expectAllowed(caller.grant, everything('manage', { doing: 'Changing roles' }));
    const after = rights.with(assignments);
    if (rights.roles.isEnabled && !after.roles.isEnabled)
      throw new DomainError(
        'CONFLICT',
        'This is the last role. Without any, roles are off, and all users have more rights: assign another role first.',
      );
    const isAdmin = after.isAdmin(caller);
    if (!after.hasAllowlist && !isAdmin && !after.roles.all().some(isAdministrator))
      throw new DomainError(
        'CONFLICT',
        'No user would be an administrator any more. Assign the role admin everywhere to a user first.',
      );
    if (!rights.roles.isEnabled && !isAdmin)
      throw new DomainError(
        'CONFLICT',
        `With the first role, roles are on, and you would lose all rights. ${remedyFor(caller)}`,
      );
  }
}

const remedyFor = ({ login }: Caller): string =>
  login === ''
    ? 'You have no login: name an administrator in the configuration (admins), or log in first.'
    : `Assign ${login} the role admin everywhere first.`;

/** A group may be empty, so it does not count. */
const isAdministrator = (role: HeldRole): boolean =>
  role.kind === 'everything' && role.role === 'admin' && 'user' in role.subject && !isVoid(role);

const MAX_NAME_LENGTH = 256;

/** @throws DomainError INVALID_INPUT */
export function expectSubject(subject: RoleSubject): void {
  const [field, name] = 'user' in subject ? ['user', subject.user] : ['group', subject.group];
  if (name === '' || name.length > MAX_NAME_LENGTH || name.trim() !== name)
    throw new DomainError(
      'INVALID_INPUT',
      `subject.${field} must have 1 to ${MAX_NAME_LENGTH} characters, without spaces around them.`,
    );
  // A name that looks like another one on the page.
  if (!name.isWellFormed() || /[\p{C}\p{Zl}\p{Zp}]/u.test(name))
    throw new DomainError('INVALID_INPUT', `subject.${field} must not have control characters or invisible ones.`);
  if (field === 'user' && name.includes(','))
    throw new DomainError('INVALID_INPUT', 'subject.user must not have a comma: no login has one.');
}
