import {
  DomainError,
  FolderDirectory,
  formatRef,
  messageOf,
  SILENT_LOG,
  type FolderDelta,
  type FolderIds,
  type FolderStore,
  type Instance,
  type InstanceIdentity,
  type Log,
} from '@headgate/domain-contracts';
import { FolderTree, isEmptyDelta } from './folder-tree.js';

/** How often a change is tried again when another replica was faster. */
const MAX_ATTEMPTS = 5;

/** The folders of the store, in memory. */
export class Folders extends FolderDirectory implements FolderIds {
  private current = new FolderTree();
  private version = '';
  private boundAtMs = 0;
  private readonly listeners = new Set<(refs: Iterable<string>) => void>();
  private readonly pathListeners = new Set<() => void>();
  private idsByPath: ReadonlyMap<string, string> = new Map();
  private pathsById: ReadonlyMap<string, string> = new Map();
  /** Changes run one after the other: each is checked against the result of the one before. */
  private last: Promise<unknown> = Promise.resolve();

  private stopFollowing: (() => void) | undefined;
  /** The last version that the store has reported, until it is read. */
  private reported: string | undefined;

  constructor(
    private readonly store: FolderStore,
    private readonly log: Log = SILENT_LOG,
  ) {
    super();
  }

  /** Only for reading: `change` is the way to change it. */
  get tree(): FolderTree {
    return this.current;
  }

  /** The time in milliseconds since which every new member has the ID of its object; 0 if it is not known. */
  get boundSinceMs(): number {
    return this.boundAtMs;
  }

  /** Reads the store, and follows the changes of other replicas. @throws DomainError when the store can't be used */
  async open(): Promise<void> {
    await this.load();
    this.stopFollowing = this.store.subscribe((version) => this.reload(version));
  }

  close(): void {
    this.stopFollowing?.();
  }

  /** Reads the store and reports the refs whose folder has changed. */
  async load(): Promise<void> {
    const before = this.current;
    const records = await this.store.read();
    this.current = new FolderTree(records);
    this.version = records.version;
    this.boundAtMs = Date.parse(records.boundSince ?? '') || 0;
    this.readIds();
    this.emit(this.current.changesSince(before));
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

  override folderOf(instance: InstanceIdentity): string | undefined {
    return this.current.folderOf(instance);
  }

  override hasFolder(path: string): boolean {
    return this.current.has(path);
  }

  idOf(path: string): string | undefined {
    return this.idsByPath.get(path);
  }

  pathOf(id: string): string | undefined {
    return this.pathsById.get(id);
  }

  subscribePaths(listener: () => void): () => void {
    this.pathListeners.add(listener);
    return () => void this.pathListeners.delete(listener);
  }

  override join({ ref, uid }: Instance, path: string, state: 'member' | 'ending'): Promise<void> {
    return this.change((tree) => tree.assign({ ref: formatRef(ref), uid }, path, state));
  }

  override complete({ ref, uid }: Instance): Promise<void> {
    return this.change((tree) => tree.mark({ ref: formatRef(ref), uid }, 'member'));
  }

  override async endWith({ ref, uid }: Instance, remove: () => Promise<void>): Promise<void> {
    const instance = { ref: formatRef(ref), uid };
    // Durable before the deletion: it may be carried out after this process has ended.
    await this.change((tree) => tree.mark(instance, 'ending'));
    try {
      await remove();
    } catch (error) {
      // Otherwise, it may be carried out all the same.
      if (!DomainError.is(error, 'BACKEND_UNREACHABLE', 'BACKEND_TIMEOUT')) await this.keep(instance);
      throw error;
    }
  }

  override subscribe(listener: (refs: Iterable<string>) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** A membership that still ends with its object is better than an error that hides the one of the deletion. */
  private async keep(instance: InstanceIdentity): Promise<void> {
    await this.change((tree) => tree.mark(instance, 'member')).catch((error: unknown) =>
      this.log.warn({ ref: instance.ref, reason: messageOf(error) }, 'a member still ends with its instance'),
    );
  }

  private async commit(describe: (tree: FolderTree) => FolderDelta): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const delta = describe(this.current);
      if (isEmptyDelta(delta)) return;
      try {
        this.version = await this.store.commit(this.version, delta);
        const changed = this.current.apply(delta);
        if (delta.removed.length + delta.renamed.length + delta.created.length > 0) this.readIds();
        return this.emit(changed);
      } catch (error) {
        if (!DomainError.is(error, 'CONFLICT') || attempt === MAX_ATTEMPTS) throw error;
        await this.load();
      }
    }
  }

  /** Reads the store again after a change by another replica. Changes that arrive meanwhile are read together. */
  private reload(version: string): void {
    if (version === this.version) return;
    const isWaiting = this.reported !== undefined;
    this.reported = version;
    if (isWaiting) return;
    this.last = this.last
      .then(async () => {
        const { reported } = this;
        this.reported = undefined;
        if (reported !== this.version) await this.load();
      })
      .catch((error: unknown) => this.log.warn({ reason: messageOf(error) }, 'reading the folders again failed'));
  }

  private readIds(): void {
    this.idsByPath = this.store.ids();
    this.pathsById = new Map([...this.idsByPath].map(([path, id]) => [id, path]));
    for (const listener of [...this.pathListeners]) listener();
  }

  private emit(refs: Iterable<string>): void {
    for (const listener of this.listeners) listener(refs);
  }
}
