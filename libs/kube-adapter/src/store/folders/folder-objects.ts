import { DomainError, type FolderDelta, type FolderMember } from '@headgate/domain-contracts';
import type { KubeObject } from '../../api/kube-object.js';

/** The format of the objects that this release writes. */
export const FORMAT_VERSION = 2;
/**
 * It had only refs, where the present format has entries. A tree of it is rewritten when it is read; its shards remain.
 */
export const REF_FORMAT_VERSION = 1;
/** Annotation of a tree that had the earlier format: since when each new member has an ID. */
export const BOUND_SINCE = 'svc.dev/bound-since';
/** Members are spread over this many objects by a hash of their ref. With 100,000 members each has about 160 KB. */
export const SHARD_COUNT = 64;
/** Assignments that the tree may contain before they are moved to the shards. */
export const MAX_RECENT = 500;
/** The most assignments of one change. */
export const MAX_ASSIGNED = 5_000;
/** Commits whose IDs are kept, so that a commit without a response can be found. */
const KEPT_COMMITS = 20;
/** etcd refuses requests of more than 1.5 MiB. */
export const MAX_OBJECT_BYTES = 1_200_000;
/** The folder of an assignment that takes a member out of its folder. */
const NO_FOLDER = 0;

export interface FolderEntry {
  readonly id: number;
  readonly path: string;
}

export interface Assignment {
  /** An entry. */
  readonly ref: string;
  /** The ID of a folder, or 0. */
  readonly folder: number;
  /** Of the commit. */
  readonly revision: number;
}

export interface FolderTreeSpec {
  readonly formatVersion: number;
  /** Grows with each commit. */
  readonly revision: number;
  readonly nextFolder: number;
  readonly folders: readonly FolderEntry[];
  /** The latest assignments, the oldest first. They count more than the shards. */
  readonly recent: readonly Assignment[];
  /** For each shard, the revision that it must contain; 0 if it need not exist. */
  readonly shards: readonly number[];
  /** The IDs of the last commits. */
  readonly commits: readonly string[];
}

/** All folders, and the latest assignments. The only object that a commit changes. */
export interface FolderTreeObject extends KubeObject {
  readonly spec: FolderTreeSpec;
}

export interface FolderShardSpec {
  readonly formatVersion: number;
  readonly index: number;
  /** All assignments up to this revision are in it. */
  readonly revision: number;
  /** `refs` are entries. */
  readonly members: readonly { readonly folder: number; readonly refs: readonly string[] }[];
}

export interface FolderShardObject extends KubeObject {
  readonly spec: FolderShardSpec;
}

export const EMPTY_TREE: FolderTreeSpec = {
  formatVersion: FORMAT_VERSION,
  revision: 0,
  nextFolder: 1,
  folders: [],
  recent: [],
  shards: Array.from({ length: SHARD_COUNT }, () => 0),
  commits: [],
};

/**
 * A member as text: its ref, its ID percent-encoded, and `ending`, separated by spaces. Only a ref: it is not bound to
 * an object yet. Text instead of fields, because an API server whose definitions are older drops fields that it does
 * not know, and the folders of all members with them.
 */
export function entryOf({ ref, uid, state }: Pick<FolderMember, 'ref' | 'uid' | 'state'>): string {
  if (state === 'unbound') return ref;
  return [ref, encodeURIComponent(uid), ...(state === 'ending' ? ['ending'] : [])].join(' ');
}

/** @throws URIError for an ID that is not percent-encoded */
function readEntry(entry: string): Pick<FolderMember, 'ref' | 'uid' | 'state'> {
  const [ref = '', uid, mark] = entry.split(' ');
  if (uid === undefined) return { ref, uid: '', state: 'unbound' };
  return { ref, uid: decodeURIComponent(uid), state: mark === undefined ? 'member' : 'ending' };
}

export const refOfEntry = (entry: string): string => entry.split(' ', 1)[0] ?? '';

/** The entries of one object in each state; the first identifies it. */
function entriesLike(entry: string): [key: string, ...others: string[]] {
  const [ref = '', uid = ''] = entry.split(' ');
  const key = `${ref} ${uid}`;
  return [key, `${key} ending`, ...(uid === '' ? [ref] : [])];
}

function isEntry(entry: unknown): boolean {
  if (typeof entry !== 'string') return false;
  try {
    return entryOf(readEntry(entry)) === entry;
  } catch {
    return false;
  }
}

/** FNV-1a over the UTF-16 units of a ref. Part of the format: another hash would not find the members again. */
export function shardOf(ref: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < ref.length; index++) hash = Math.imul(hash ^ ref.charCodeAt(index), 0x01000193);
  return (hash >>> 0) % SHARD_COUNT;
}

/**
 * The tree after a change.
 * @throws DomainError INVALID_INPUT when the change is too large; Error when it does not fit the tree
 */
export function applyDelta(tree: FolderTreeSpec, delta: FolderDelta, commit: string): FolderTreeSpec {
  if (delta.assigned.length > MAX_ASSIGNED)
    throw new DomainError('INVALID_INPUT', `A change may assign at most ${MAX_ASSIGNED} instances.`);
  const revision = tree.revision + 1;
  const idOf = new Map(tree.folders.map(({ id, path }) => [path, id]));
  const expectFolder = (path: string): number => {
    const id = idOf.get(path);
    if (id === undefined) throw new Error(`There is no folder ${path}.`);
    return id;
  };
  for (const path of delta.removed) {
    expectFolder(path);
    idOf.delete(path);
  }
  const renamed = delta.renamed.map(({ from, to }) => ({ id: expectFolder(from), from, to }));
  for (const { from } of renamed) idOf.delete(from);
  const add = (path: string, id: number): void => {
    if (idOf.has(path)) throw new Error(`The folder ${path} already exists.`);
    idOf.set(path, id);
  };
  for (const { to, id } of renamed) add(to, id);
  let { nextFolder } = tree;
  for (const path of delta.created) add(path, nextFolder++);
  const assigned = delta.assigned.map(({ ref, uid, path, state = 'member' }) => ({
    ref: entryOf({ ref, uid, state }),
    folder: path === undefined ? NO_FOLDER : expectFolder(path),
    revision,
  }));
  return {
    ...tree,
    revision,
    nextFolder,
    folders: [...idOf].map(([path, id]) => ({ id, path })),
    recent: [...tree.recent, ...assigned],
    commits: [...tree.commits.slice(1 - KEPT_COMMITS), commit],
  };
}

/** The members of a shard as a map, for changes and lookups. */
export class Shard {
  readonly revision: number;
  readonly folderOf: Map<string, number>;

  constructor(readonly object: FolderShardObject) {
    this.revision = object.spec.revision;
    this.folderOf = new Map(object.spec.members.flatMap(({ folder, refs }) => refs.map((ref) => [ref, folder])));
  }

  /**
   * The shard with all assignments of the tree that it does not have yet, without the members of folders that no longer
   * exist.
   */
  with(tree: FolderTreeSpec, assignments: readonly Assignment[]): FolderShardSpec {
    const folderOf = new Map(this.folderOf);
    for (const { ref: entry, folder, revision } of assignments) {
      if (revision <= this.revision) continue;
      for (const one of entriesLike(entry)) folderOf.delete(one);
      folderOf.set(entry, folder);
    }
    const members = new Map<number, string[]>(tree.folders.map(({ id }) => [id, []]));
    for (const [entry, folder] of folderOf) members.get(folder)?.push(entry);
    return {
      ...this.object.spec,
      formatVersion: FORMAT_VERSION,
      revision: tree.revision,
      members: [...members].filter(([, refs]) => refs.length > 0).map(([folder, refs]) => ({ folder, refs })),
    };
  }
}

/** Every member that is in a folder of the tree. */
export function membersOf(tree: FolderTreeSpec, shards: Iterable<Shard>): FolderMember[] {
  const pathOf = new Map(tree.folders.map(({ id, path }) => [id, path]));
  const recent = new Map(tree.recent.map(({ ref: entry, folder }) => [entriesLike(entry)[0], { entry, folder }]));
  const members: FolderMember[] = [];
  const add = (entry: string, folder: number): void => {
    const path = pathOf.get(folder);
    if (path !== undefined) members.push({ ...readEntry(entry), path });
  };
  for (const { folderOf } of shards)
    for (const [entry, folder] of folderOf) if (!recent.has(entriesLike(entry)[0])) add(entry, folder);
  for (const { entry, folder } of recent.values()) add(entry, folder);
  return members;
}

/** @throws DomainError NOT_READY for an object that this release can't read */
export function expectReadable<T extends FolderTreeObject | FolderShardObject>(object: T, kind: string): T {
  const name = `${kind} ${object.metadata.namespace}/${object.metadata.name}`;
  const { formatVersion } = object.spec ?? {};
  if (typeof formatVersion === 'number' && formatVersion > FORMAT_VERSION)
    throw new DomainError(
      'NOT_READY',
      `The store can't be used: a newer release wrote the ${name} (format ${formatVersion}, this release reads ${REF_FORMAT_VERSION} and ${FORMAT_VERSION}). It was left as it is; use the newer release.`,
    );
  const problem = 'index' in (object.spec ?? {}) ? problemOfShard(object.spec) : problemOfTree(object.spec);
  if (problem !== undefined) throw damaged(name, problem);
  return object;
}

export const damaged = (name: string, problem: string): DomainError =>
  new DomainError(
    'NOT_READY',
    `The store can't be used: the ${name} is damaged (${problem}). It was left as it is; restore it from a backup.`,
  );

const isFormat = (value: unknown): boolean => value === FORMAT_VERSION || value === REF_FORMAT_VERSION;
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

function problemOfTree(spec: Partial<FolderTreeSpec> | undefined): string | undefined {
  if (!isFormat(spec?.formatVersion)) return 'it has no valid formatVersion';
  const { revision, nextFolder, folders, recent, shards, commits } = spec ?? {};
  if (!isCount(revision) || !isCount(nextFolder)) return 'its counters are missing';
  if (!Array.isArray(folders) || !Array.isArray(recent) || !Array.isArray(commits)) return 'its lists are missing';
  if (!Array.isArray(shards) || shards.length !== SHARD_COUNT || !shards.every(isCount))
    return `it must have ${SHARD_COUNT} revisions of shards`;
  if (recent.some(({ ref }) => !isEntry(ref))) return 'an assignment has no valid instance';
  if (new Set(folders.map(({ id }) => id)).size < folders.length) return 'two folders have the same ID';
  if (new Set(folders.map(({ path }) => path)).size < folders.length) return 'two folders have the same path';
  if (folders.some(({ id }) => !isCount(id) || id === NO_FOLDER || id >= nextFolder)) return 'a folder has no valid ID';
  return undefined;
}

function problemOfShard(spec: Partial<FolderShardSpec> | undefined): string | undefined {
  if (!isFormat(spec?.formatVersion)) return 'it has no valid formatVersion';
  if (!isCount(spec?.index) || !isCount(spec?.revision)) return 'its numbers are missing';
  const { members } = spec;
  if (!Array.isArray(members) || !members.every(({ refs }) => Array.isArray(refs))) return 'its members are missing';
  return members.every(({ refs }) => refs.every(isEntry)) ? undefined : 'a member is no valid instance';
}
