import {
  subjectKey,
  type Role,
  type RoleAssignment,
  type RoleScope,
  type RoleStore,
  type RoleSubject,
} from '@headgate/domain-contracts';
import type { HeldRole } from './held-role.js';
import { RoleGrant } from './role-grant.js';

/** The path of a role that holds everywhere: in every folder, outside of all folders, and for the service itself. */
export const EVERYWHERE = '/';

/** A role of the configuration, for either a user, a group or an API token. */
export interface RoleEntry {
  readonly login?: string;
  readonly group?: string;
  /** The ID of an API token. Limits it further: it never has more rights than its creator. */
  readonly token?: string;
  /** The path of a folder, or `/`. */
  readonly folder?: string;
  /** Instead of a folder. */
  readonly context?: string;
  readonly role: Role;
}

/** A user, as far as roles are concerned. */
export interface RoleHolder {
  readonly login: string;
  /** A function for a user who is not present, whose groups change meanwhile. It returns the same array until then. */
  readonly groups?: readonly string[] | (() => readonly string[]) | undefined;
}

/** The folders and contexts of roles that were assigned while the service ran. */
export interface RolePlaces {
  /** The ID of the folder that has a path now. */
  idOf(path: string): string | undefined;
  /** The present path of a folder; undefined for a deleted one. */
  pathOf(folderId: string): string | undefined;
  /** The ID of the context that has a name now. */
  contextIdOf(name: string): string;
  /** @param listener called after folders or contexts were created, renamed or deleted */
  subscribe(listener: () => void): () => void;
}

/** The reading part of a store of roles. */
type ReadableRoles = Pick<RoleStore, 'all' | 'expectCurrent' | 'subscribe'>;

/** The roles of the configuration, and those that were assigned while the service ran. Without any, roles are off. */
export class Roles {
  private readonly configured: readonly HeldRole[];
  private readonly ofTokens: readonly RoleEntry[];
  private readonly listeners = new Set<() => void>();
  /** The roles of each subject, so that a request costs the same however many there are. */
  private index: ReadonlyMap<string, readonly HeldRole[]> | undefined;

  constructor(
    private readonly entries: readonly RoleEntry[],
    private readonly store?: ReadableRoles,
    private readonly places?: RolePlaces,
  ) {
    this.ofTokens = entries.filter(({ token }) => token !== undefined);
    this.configured = entries.flatMap((entry, index) => heldOf(entry, `configuration-${index + 1}`) ?? []);
    // For as long as the process lives.
    store?.subscribe(() => {
      this.index = undefined;
      this.report();
    });
    places?.subscribe(() => this.report());
  }

  get isEnabled(): boolean {
    return this.ofTokens.length > 0 || this.bySubject().size > 0;
  }

  /** Those of the configuration, and then those that were assigned, the oldest first. */
  all(): readonly HeldRole[] {
    return [...this.configured, ...(this.store?.all() ?? []).map((one) => this.hold(one))];
  }

  /** The same with other assignments, for the check of a change. */
  with(assignments: readonly RoleAssignment[]): Roles {
    return new Roles(this.entries, new FixedRoles(assignments), this.places && unwatched(this.places));
  }

  /** The rights of a user now and later: they change with the roles. A user without a role has none. */
  of({ login, groups = [] }: RoleHolder): RoleGrant {
    // A caller without a login is in no group that anyone vouches for.
    const subjectsIn = (present: readonly string[]): RoleSubject[] =>
      login === '' ? [] : [{ user: login }, ...present.map((group) => ({ group }))];
    return this.grantOf(login || 'A caller without a login', groups, subjectsIn);
  }

  /** The same for everyone in a group. */
  ofGroup(group: string): RoleGrant {
    return this.grantOf(`The group ${group}`, [group], () => [{ group }]);
  }

  /** The roles by which an API token is limited; undefined if the configuration does not name it. */
  ofToken(id: string): RoleGrant | undefined {
    const own = this.ofTokens.filter(({ token }) => token === id);
    if (own.length === 0) return undefined;
    const held = own.map(({ login: _login, group: _group, token: _token, ...entry }) => roleIn(entry));
    return new RoleGrant(`The API token ${id}`, () => held);
  }

  /** Whether a user has the role admin everywhere. */
  isAdmin(holder: RoleHolder): boolean {
    return this.of(holder).allowsAll('manage');
  }

  /** @param listener called after the rights of anyone may have changed, until the returned function is called */
  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  private grantOf(
    label: string,
    groups: NonNullable<RoleHolder['groups']>,
    subjectsIn: (groups: readonly string[]) => RoleSubject[],
  ): RoleGrant {
    let known: { readonly of: readonly string[]; readonly keys: readonly string[] } | undefined;
    return new RoleGrant(label, () => {
      const present = typeof groups === 'function' ? groups() : groups;
      // A list of instances decides about each of them.
      if (known?.of !== present) known = { of: present, keys: [...new Set(subjectsIn(present).map(subjectKey))] };
      const index = this.bySubject();
      return known.keys.flatMap((key) => index.get(key) ?? []);
    });
  }

  /** @throws DomainError NOT_READY while the store can't be read */
  private bySubject(): ReadonlyMap<string, readonly HeldRole[]> {
    this.store?.expectCurrent();
    this.index ??= indexOf(this.all());
    return this.index;
  }

  /** An assignment with the present name of its place. */
  hold(assignment: RoleAssignment): HeldRole {
    const { id, subject, role, scope, place } = assignment;
    const { places } = this;
    const held = { id, source: 'assigned', subject, role, scope, assignment } as const;
    if (scope.folder !== undefined) return { ...held, kind: 'folder', path: () => places?.pathOf(place) };
    if (scope.context === undefined) return { ...held, kind: 'everything' };
    const name = scope.context;
    return { ...held, kind: 'context', name: () => (places?.contextIdOf(name) === place ? name : undefined) };
  }

  private report(): void {
    for (const listener of [...this.listeners]) listener();
  }
}

/** Assignments that do not change. */
class FixedRoles implements ReadableRoles {
  constructor(private readonly assignments: readonly RoleAssignment[]) {}

  all(): readonly RoleAssignment[] {
    return this.assignments;
  }

  expectCurrent(): void {
    // They are those that were given.
  }

  subscribe(): () => void {
    return () => undefined;
  }
}

const unwatched = (places: RolePlaces): RolePlaces => ({
  idOf: (path) => places.idOf(path),
  pathOf: (id) => places.pathOf(id),
  contextIdOf: (name) => places.contextIdOf(name),
  subscribe: () => () => undefined,
});

function indexOf(roles: readonly HeldRole[]): ReadonlyMap<string, readonly HeldRole[]> {
  const index = new Map<string, HeldRole[]>();
  for (const role of roles) {
    const key = subjectKey(role.subject);
    const present = index.get(key);
    if (present) present.push(role);
    else index.set(key, [role]);
  }
  return index;
}

function heldOf({ login, group, token: _token, ...entry }: RoleEntry, id: string): HeldRole | undefined {
  if (login !== undefined) return { ...roleIn(entry), id, subject: { user: login } };
  return group === undefined ? undefined : { ...roleIn(entry), id, subject: { group } };
}

/** A role in a place that the configuration names: it is for whatever has the name. */
export function roleIn({ folder, context, role }: Pick<RoleEntry, 'folder' | 'context' | 'role'>): HeldRole {
  const held = { id: 'configuration', source: 'configuration', subject: { user: '' }, role } as const;
  if (context !== undefined) return { ...held, scope: { context }, kind: 'context', name: () => context };
  if (folder === undefined || folder === EVERYWHERE) return { ...held, scope: {}, kind: 'everything' };
  return { ...held, scope: { folder }, kind: 'folder', path: () => folder };
}

/** The words for a subject: "the user ann". */
export const subjectText = (subject: RoleSubject): string =>
  'user' in subject ? `the user ${subject.user}` : `the group ${subject.group}`;

/** The words for a scope: "in the folder prod". */
export function scopeText({ folder, context }: RoleScope): string {
  if (folder !== undefined) return `in the folder ${folder}`;
  return context === undefined ? 'everywhere' : `in the context ${context}`;
}
