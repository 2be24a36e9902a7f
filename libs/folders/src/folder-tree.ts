import {
  DomainError,
  isWithinFolder,
  MAX_FOLDER_DEPTH,
  parentFolder,
  type FolderAssignment,
  type FolderDelta,
  type FolderRecords,
  type InstanceIdentity,
  type MemberState,
} from '@headgate/domain-contracts';

const NOTHING: FolderDelta = { removed: [], renamed: [], created: [], assigned: [] };
/** Longer than the ID of any engine. A store has a limit for the ref and the ID together. */
const MAX_UID_LENGTH = 512;

interface Folder {
  /** The only part that a new path changes, however many members there are. */
  path: string;
  readonly members: Set<Member>;
}

/** One object in a folder. */
export interface Member extends InstanceIdentity {
  readonly state: MemberState;
  readonly folder: { readonly path: string };
}

/**
 * The folders and their members in memory. The methods that end in a `FolderDelta` check a change and describe it; only
 * `apply` changes the tree. An object is in one folder at most. A ref can be in several: of objects that no longer
 * exist, and of one that does. In each folder a ref is one member.
 */
export class FolderTree {
  private readonly folders = new Map<string, Folder>();
  private readonly membersOf = new Map<string, readonly Member[]>();
  /** The members that wait for their object to be listed, or to be gone. */
  private readonly waiting = new Set<Member>();

  constructor({ paths, members }: Pick<FolderRecords, 'paths' | 'members'> = { paths: [], members: [] }) {
    this.apply({ ...NOTHING, created: paths, assigned: members });
  }

  /** All paths, each after the folder around it. */
  paths(): string[] {
    return [...this.folders.keys()].sort(byPath);
  }

  has(path: string): boolean {
    return this.folders.has(path);
  }

  /** The folder of one object. */
  folderOf(instance: InstanceIdentity): string | undefined {
    const member = this.find(instance);
    return member && isBound(member) ? member.folder.path : undefined;
  }

  /** The members of one folder. Without those of the folders in it. */
  members(path: string): ReadonlySet<Member> {
    return this.folders.get(path)?.members ?? new Set();
  }

  /** The members that have a ref, in whichever folder. */
  membersWith(ref: string): readonly Member[] {
    return this.membersOf.get(ref) ?? [];
  }

  /** Every ref that is in a folder. */
  refs(): Iterable<string> {
    return this.membersOf.keys();
  }

  /** The members that are not bound to an object yet, or that end when it is gone. */
  pending(): ReadonlySet<Member> {
    return this.waiting;
  }

  /** The refs whose members are others than in an earlier tree. */
  changesSince(before: FolderTree): string[] {
    const isChanged = (ref: string): boolean => !isSame(before.membersWith(ref), this.membersWith(ref));
    return [...new Set([...this.refs(), ...before.refs()])].filter(isChanged);
  }

  /** The folder and all folders in it. @throws DomainError FOLDER_NOT_FOUND */
  within(path: string): string[] {
    this.expect(path);
    return this.paths().filter((one) => isWithinFolder(one, path));
  }

  /** A change that has no effect. */
  unchanged(): FolderDelta {
    return NOTHING;
  }

  /** @throws DomainError ALREADY_EXISTS */
  create(path: string): FolderDelta {
    if (this.has(path)) throw new DomainError('ALREADY_EXISTS', `The folder ${path} already exists.`);
    return { ...NOTHING, created: this.missing(path) };
  }

  /** @throws DomainError FOLDER_NOT_FOUND */
  remove(path: string): FolderDelta {
    return { ...NOTHING, removed: this.within(path) };
  }

  /**
   * @throws DomainError FOLDER_NOT_FOUND, INVALID_INPUT for a target that exists, is in the folder itself or is too
   *   deep
   */
  move(from: string, to: string): FolderDelta {
    const folders = this.within(from);
    if (isWithinFolder(to, from)) throw new DomainError('INVALID_INPUT', `${from} can't be moved into itself.`);
    if (this.has(to)) throw new DomainError('INVALID_INPUT', `to is the whole new path, and ${to} already exists.`);
    const renamed = folders.map((path) => ({ from: path, to: `${to}${path.slice(from.length)}` }));
    const deepest = renamed.find((one) => one.to.split('/').length > MAX_FOLDER_DEPTH);
    if (deepest)
      throw new DomainError('INVALID_INPUT', `${deepest.to} would be deeper than ${MAX_FOLDER_DEPTH} folders.`);
    return { ...NOTHING, renamed, created: this.missing(to).slice(0, -1) };
  }

  /**
   * Puts an object into a folder, in place of a former object of its ref there.
   * @param state of an object that is in no folder yet
   * @throws DomainError FOLDER_NOT_FOUND, INVALID_INPUT for an object without a usable ID
   */
  assign({ ref, uid }: InstanceIdentity, path: string, state: 'member' | 'ending' = 'member'): FolderDelta {
    this.expect(path);
    expectUid(ref, uid);
    const present = this.find({ ref, uid });
    const former = this.membersWith(ref).filter((one) => one !== present && one.folder.path === path);
    const assigned = former.map((one): FolderAssignment => ({ ref, uid: one.uid, path: undefined }));
    if (present?.folder.path !== path) assigned.push({ ref, uid, path, state: present?.state ?? state });
    return { ...NOTHING, assigned };
  }

  /** Takes members out of their folders. Those that are in none are left out. */
  unassign(...instances: readonly InstanceIdentity[]): FolderDelta {
    const found = instances.flatMap((one) => this.find(one) ?? []);
    return { ...NOTHING, assigned: found.map(({ ref, uid }) => ({ ref, uid, path: undefined })) };
  }

  /** Changes whether a member ends with its object. An object that is in no folder is left out. */
  mark(instance: InstanceIdentity, state: 'member' | 'ending'): FolderDelta {
    const member = this.find(instance);
    if (!member || !isBound(member) || member.state === state) return NOTHING;
    const { ref, uid, folder } = member;
    return { ...NOTHING, assigned: [{ ref, uid, path: folder.path, state }] };
  }

  /** Binds an unbound member to an object, or to none: then it is missing until it is removed. */
  bind({ ref, folder: { path } }: Member, uid: string): FolderDelta {
    // An object that is in a folder already is not bound a second time.
    const bound = uid !== '' && this.find({ ref, uid }) ? '' : uid;
    const isThere = this.membersWith(ref).some((one) => isBound(one) && one.folder.path === path);
    return {
      ...NOTHING,
      assigned: [
        { ref, uid: '', path: undefined },
        ...(isThere ? [] : [{ ref, uid: bound, path, state: 'member' as const }]),
      ],
    };
  }

  /** Carries out a change. @returns the refs with another folder now */
  apply({ removed, renamed, created, assigned }: FolderDelta): string[] {
    const changed: string[] = [];
    for (const path of removed) {
      for (const member of this.members(path)) {
        this.forget(member);
        changed.push(member.ref);
      }
      this.folders.delete(path);
    }
    const moved = renamed.map(({ from, to }) => ({ folder: this.folders.get(from), from, to }));
    for (const { from } of moved) this.folders.delete(from);
    for (const { folder = { path: '', members: new Set<Member>() }, to } of moved) {
      folder.path = to;
      this.folders.set(to, folder);
      for (const { ref } of folder.members) changed.push(ref);
    }
    for (const path of created) this.folders.set(path, { path, members: new Set() });
    for (const one of assigned) {
      const present = this.find(one);
      if (present) this.forget(present);
      const folder = one.path === undefined ? undefined : this.folders.get(one.path);
      if (folder) this.keep(one, folder);
      changed.push(one.ref);
    }
    return changed;
  }

  private find({ ref, uid }: InstanceIdentity): Member | undefined {
    return this.membersWith(ref).find((one) => one.uid === uid);
  }

  private keep({ ref, uid, state = 'member' }: FolderAssignment, folder: Folder): void {
    const member: Member = { ref, uid, state, folder };
    folder.members.add(member);
    this.membersOf.set(ref, [...this.membersWith(ref), member]);
    if (state !== 'member') this.waiting.add(member);
  }

  private forget(member: Member): void {
    this.folders.get(member.folder.path)?.members.delete(member);
    this.waiting.delete(member);
    const others = this.membersWith(member.ref).filter((one) => one !== member);
    if (others.length > 0) this.membersOf.set(member.ref, others);
    else this.membersOf.delete(member.ref);
  }

  private expect(path: string): void {
    if (!this.has(path)) throw new DomainError('FOLDER_NOT_FOUND', `There is no folder ${path}.`);
  }

  /** The folders that do not exist yet on the way to a path, itself included, from the top down. */
  private missing(path: string): string[] {
    const missing: string[] = [];
    for (let one: string | undefined = path; one !== undefined && !this.has(one); one = parentFolder(one)) {
      missing.unshift(one);
    }
    return missing;
  }
}

/** Whether a change has any effect. */
export const isEmptyDelta = ({ removed, renamed, created, assigned }: FolderDelta): boolean =>
  removed.length + renamed.length + created.length + assigned.length === 0;

/** Whether it is the member of an object. */
const isBound = ({ uid, state }: Member): boolean => uid !== '' && state !== 'unbound';

function isSame(some: readonly Member[], others: readonly Member[]): boolean {
  const keys = ({ uid, state, folder }: Member): string => JSON.stringify([uid, state, folder.path]);
  const known = new Set(others.map(keys));
  return some.length === others.length && some.every((one) => known.has(keys(one)));
}

/** @throws DomainError INVALID_INPUT for an ID that no store could keep, or that could be mistaken for another one */
function expectUid(ref: string, uid: string): void {
  const isUsable = uid !== '' && uid.isWellFormed() && !uid.includes('\0');
  if (!isUsable || encodeURIComponent(uid).length > MAX_UID_LENGTH)
    throw new DomainError('INVALID_INPUT', `${ref} has no usable ID in its backend, so it can't be in a folder.`);
}

/** By name, level by level: `a/b` comes before `a b`, although a space sorts before a slash. */
function byPath(a: string, b: string): number {
  const [left, right] = [a.replaceAll('/', '\0'), b.replaceAll('/', '\0')];
  return left < right ? -1 : left > right ? 1 : 0;
}
