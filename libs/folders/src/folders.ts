import { DomainError, FolderDirectory, type FolderDelta, type FolderStore } from '@headgate/domain-contracts';
import { FolderTree, isEmptyDelta } from './folder-tree.js';

/** How often a change is tried again when another replica was faster. */
const MAX_ATTEMPTS = 5;

/** The folders of the store, in memory. */
export class Folders extends FolderDirectory {
  private current = new FolderTree();
  private version = '';
  private readonly listeners = new Set<(refs: Iterable<string>) => void>();
  /** Changes run one after the other: each is checked against the result of the one before. */
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly store: FolderStore) {
    super();
  }

  /** Only for reading: `change` is the way to change it. */
  get tree(): FolderTree {
    return this.current;
  }

  /** Reads the store and reports the refs that are or were in a folder. */
  async load(): Promise<void> {
    const before = this.current;
    const records = await this.store.read();
    this.current = new FolderTree(records);
    this.version = records.version;
    this.emit(new Set([...before.refs(), ...this.current.refs()]));
  }

  /**
   * Makes a change durable and then visible.
   * @param describe checks the change against the tree; called again when another replica changed the folders meanwhile
   * @throws DomainError what `describe` throws, or CONFLICT when other replicas were faster each time
   */
  change(describe: (tree: FolderTree) => FolderDelta): Promise<void> {
    const work = this.last.then(() => this.commit(describe));
    this.last = work.catch(() => undefined);
    return work;
  }

  override folderOf(ref: string): string | undefined {
    return this.current.folderOf(ref);
  }

  override subscribe(listener: (refs: Iterable<string>) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  private async commit(describe: (tree: FolderTree) => FolderDelta): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const delta = describe(this.current);
      if (isEmptyDelta(delta)) return;
      try {
        this.version = await this.store.commit(this.version, delta);
        return this.emit(this.current.apply(delta));
      } catch (error) {
        if (!DomainError.is(error, 'CONFLICT') || attempt === MAX_ATTEMPTS) throw error;
        await this.load();
      }
    }
  }

  private emit(refs: Iterable<string>): void {
    for (const listener of this.listeners) listener(refs);
  }
}
