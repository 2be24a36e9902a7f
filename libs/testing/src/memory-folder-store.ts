import { randomUUID } from 'node:crypto';
import {
  DomainError,
  FolderStore,
  type FolderDelta,
  type FolderMember,
  type FolderRecords,
  type InstanceIdentity,
} from '@headgate/domain-contracts';

/** FolderStore in memory. */
export class MemoryFolderStore extends FolderStore {
  private version = 1;
  private paths = new Set<string>();
  private members = new Map<string, FolderMember>();
  private idsByPath = new Map<string, string>();

  /** @param upgrade the members that an earlier release stored with their refs only, and when this one replaced it */
  constructor(upgrade?: { readonly boundSince: string; readonly members: Readonly<Record<string, string>> }) {
    super();
    this.boundSince = upgrade?.boundSince;
    for (const [ref, path] of Object.entries(upgrade?.members ?? {})) {
      this.paths.add(path);
      this.idsByPath.set(path, randomUUID());
      this.members.set(keyOf({ ref, uid: '' }), { ref, uid: '', path, state: 'unbound' });
    }
  }

  private readonly boundSince: string | undefined;

  override async read(): Promise<FolderRecords> {
    return {
      version: String(this.version),
      paths: [...this.paths],
      members: [...this.members.values()],
      ...(this.boundSince !== undefined && { boundSince: this.boundSince }),
    };
  }

  override async commit(version: string, { removed, renamed, created, assigned }: FolderDelta): Promise<string> {
    if (version !== String(this.version)) throw new DomainError('CONFLICT', 'The folders were changed meanwhile.');
    const targets = new Map(renamed.map(({ from, to }) => [from, to]));
    const gone = new Set(removed);
    const kept = [...this.paths].filter((path) => !gone.has(path)).map((path) => targets.get(path) ?? path);
    const paths = new Set([...kept, ...created]);
    const members = new Map(
      [...this.members]
        .filter(([, { path }]) => !gone.has(path))
        .map(([key, member]) => [key, { ...member, path: targets.get(member.path) ?? member.path }]),
    );
    for (const { ref, uid, path, state = 'member' } of assigned) {
      if (path === undefined) members.delete(keyOf({ ref, uid }));
      else if (paths.has(path)) members.set(keyOf({ ref, uid }), { ref, uid, path, state });
      else throw new Error(`there is no folder ${path}`);
    }
    const ids = new Map(
      [...this.idsByPath].flatMap(([path, id]) => (gone.has(path) ? [] : [[targets.get(path) ?? path, id]])),
    );
    for (const path of created) ids.set(path, randomUUID());
    [this.paths, this.members, this.idsByPath] = [paths, members, ids];
    return String(++this.version);
  }

  override ids(): ReadonlyMap<string, string> {
    return this.idsByPath;
  }
}

const keyOf = ({ ref, uid }: InstanceIdentity): string => JSON.stringify([ref, uid]);
