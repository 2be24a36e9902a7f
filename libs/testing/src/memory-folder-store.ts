import { DomainError, FolderStore, type FolderDelta, type FolderRecords } from '@headgate/domain-contracts';

/** FolderStore in memory. */
export class MemoryFolderStore extends FolderStore {
  private version = 1;
  private paths = new Set<string>();
  private members = new Map<string, string>();

  override async read(): Promise<FolderRecords> {
    return {
      version: String(this.version),
      paths: [...this.paths],
      members: [...this.members].map(([ref, path]) => ({ ref, path })),
    };
  }

  override async commit(version: string, { removed, renamed, created, assigned }: FolderDelta): Promise<string> {
    if (version !== String(this.version)) throw new DomainError('CONFLICT', 'The folders were changed meanwhile.');
    const targets = new Map(renamed.map(({ from, to }) => [from, to]));
    const gone = new Set(removed);
    const kept = [...this.paths].filter((path) => !gone.has(path)).map((path) => targets.get(path) ?? path);
    const paths = new Set([...kept, ...created]);
    const members = new Map(
      [...this.members].filter(([, path]) => !gone.has(path)).map(([ref, path]) => [ref, targets.get(path) ?? path]),
    );
    for (const { ref, path } of assigned) {
      if (path === undefined) members.delete(ref);
      else if (paths.has(path)) members.set(ref, path);
      else throw new Error(`there is no folder ${path}`);
    }
    [this.paths, this.members] = [paths, members];
    return String(++this.version);
  }
}
