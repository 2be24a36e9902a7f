import {
  DomainError,
  isWithinFolder,
  MAX_FOLDER_DEPTH,
  parentFolder,
  type FolderDelta,
  type FolderRecords,
} from '@headgate/domain-contracts';

const NOTHING: FolderDelta = { removed: [], renamed: [], created: [], assigned: [] };

/**
 * The folders and their members in memory. The methods that end in a `FolderDelta` check a change and describe it; only `apply`
 * changes the tree.
 */
export class FolderTree {
  private readonly membersOf = new Map<string, Set<string>>();
  private readonly pathOf = new Map<string, string>();

  constructor({ paths, members }: Pick<FolderRecords, 'paths' | 'members'> = { paths: [], members: [] }) {
    this.apply({ ...NOTHING, created: paths, assigned: members });
  }

  /** All paths, each after the folder around it. */
  paths(): string[] {
    return [...this.membersOf.keys()].sort(byPath);
  }

  has(path: string): boolean {
    return this.membersOf.has(path);
  }

  /** The folder of an instance. */
  folderOf(ref: string): string | undefined {
    return this.pathOf.get(ref);
  }

  /** The members of one folder, as refs. Without those of the folders in it. */
  members(path: string): ReadonlySet<string> {
    return this.membersOf.get(path) ?? new Set();
  }

  /** Every instance that is in a folder, as refs. */
  refs(): Iterable<string> {
    return this.pathOf.keys();
  }

  /** The refs that are in another folder than in an earlier tree. */
  changesSince(before: FolderTree): string[] {
    const changed = [...this.refs()].filter((ref) => before.folderOf(ref) !== this.folderOf(ref));
    return [...changed, ...[...before.refs()].filter((ref) => this.folderOf(ref) === undefined)];
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

  /** @throws DomainError FOLDER_NOT_FOUND, INVALID_INPUT for a target that exists, is in the folder itself or is too deep */
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

  /** @throws DomainError FOLDER_NOT_FOUND */
  assign(ref: string, path: string): FolderDelta {
    this.expect(path);
    return this.folderOf(ref) === path ? NOTHING : { ...NOTHING, assigned: [{ ref, path }] };
  }

  /** @throws DomainError FOLDER_NOT_FOUND */
  unassign(ref: string): FolderDelta {
    if (this.folderOf(ref) === undefined) throw new DomainError('FOLDER_NOT_FOUND', `${ref} is in no folder.`);
    return { ...NOTHING, assigned: [{ ref, path: undefined }] };
  }

  /** Carries out a change. @returns the refs whose folder is another one now */
  apply({ removed, renamed, created, assigned }: FolderDelta): string[] {
    const changed: string[] = [];
    for (const path of removed) {
      for (const ref of this.members(path)) {
        this.pathOf.delete(ref);
        changed.push(ref);
      }
      this.membersOf.delete(path);
    }
    for (const { from, to } of renamed) {
      const members = this.membersOf.get(from) ?? new Set();
      this.membersOf.delete(from);
      this.membersOf.set(to, members);
      for (const ref of members) {
        this.pathOf.set(ref, to);
        changed.push(ref);
      }
    }
    for (const path of created) this.membersOf.set(path, new Set());
    for (const { ref, path } of assigned) {
      this.membersOf.get(this.pathOf.get(ref) ?? '')?.delete(ref);
      this.pathOf.delete(ref);
      if (path !== undefined) {
        this.pathOf.set(ref, path);
        this.membersOf.get(path)?.add(ref);
      }
      changed.push(ref);
    }
    return changed;
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

/** By name, level by level: `a/b` comes before `a b`, although a space sorts before a slash. */
function byPath(a: string, b: string): number {
  const [left, right] = [a.replaceAll('/', '\0'), b.replaceAll('/', '\0')];
  return left < right ? -1 : left > right ? 1 : 0;
}
