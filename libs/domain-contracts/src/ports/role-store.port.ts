/**
 * `viewer` reads and watches consoles; `operator` also types, starts and stops, and creates instances in the folder;
 * `admin` does everything else there.
 */
export const ROLES = ['viewer', 'operator', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** A user by their login, or everyone in a group of the login provider. */
export type RoleSubject = { readonly user: string } | { readonly group: string };

/** Where a role holds. Without any field, everywhere. At most one field is present. */
export interface RoleScope {
  /** The folder with the ID at `place`, and those in it; this was its path when the role was assigned. */
  readonly folder?: string;
  /** The instances of this context. */
  readonly context?: string;
}

/** A role that an administrator has assigned while the service ran. */
export interface RoleAssignment {
  readonly id: string;
  readonly subject: RoleSubject;
  readonly role: Role;
  readonly scope: RoleScope;
  /** The ID of the folder or context of the scope: another one of its name is not meant. Empty for everywhere. */
  readonly place: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** The login of the administrator; empty for one without an identity. */
  readonly createdBy: string;
  /** Grows with each change. */
  readonly version: number;
}

/**
 * Stores the assignments of roles. A write that has returned is durable. Reads return the writes of this process, and
 * soon afterwards those of other replicas.
 */
export abstract class RoleStore {
  /** In the order of their creation. */
  abstract all(): readonly RoleAssignment[];

  /** @throws DomainError ALREADY_EXISTS when the subject has a role in this scope, also one of another replica */
  abstract add(assignment: RoleAssignment): Promise<void>;

  /**
   * Replaces an assignment if it still has the version before the one of the new assignment. Never brings a deleted one
   * back.
   * @returns whether it did
   */
  abstract replace(assignment: RoleAssignment): Promise<boolean>;

  /** @returns whether it existed */
  abstract delete(id: string): Promise<boolean>;

  /**
   * Called before a decision.
   * @throws DomainError NOT_READY while this process does not reach the store, because a role may have been removed
   */
  expectCurrent(): void {
    // A store that only one process uses is always current.
  }

  /** @param listener called after assignments have changed, until the returned function is called */
  abstract subscribe(listener: () => void): () => void;
}

/** The order of `RoleStore.all`. */
export const byRoleAge = (a: RoleAssignment, b: RoleAssignment): number =>
  a.createdAt === b.createdAt ? (a.id < b.id ? -1 : a.id > b.id ? 1 : 0) : a.createdAt < b.createdAt ? -1 : 1;

/**
 * A login or the name of a group for comparisons: without a difference of upper and lower case. A letter beyond ASCII
 * never becomes one of ASCII, so that `\u212Aate` with the Kelvin sign is not `kate`.
 */
export const foldName = (name: string): string =>
  // Letter after letter: the lower case of some is several.
  [...name]
    .map((letter) => (letter > '\x7f' && /[\0-\x7f]/.test(letter.toLowerCase()) ? letter : letter.toLowerCase()))
    .join('');

/** One text for each subject, equal for those that mean the same. */
export const subjectKey = (subject: RoleSubject): string =>
  'user' in subject ? `user ${foldName(subject.user)}` : `group ${foldName(subject.group)}`;

/** One text for each pair of subject and place, of which there is one assignment at most. */
export const roleKey = ({ subject, scope, place }: Pick<RoleAssignment, 'subject' | 'scope' | 'place'>): string =>
  JSON.stringify([
    subjectKey(subject),
    scope.folder !== undefined ? 'folder' : scope.context !== undefined ? 'context' : '',
    place,
    scope.context ?? '',
  ]);
