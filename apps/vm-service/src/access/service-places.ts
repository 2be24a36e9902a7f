import type { RolePlaces } from '@headgate/access';
import type { AddedContextStore, FolderIds } from '@headgate/domain-contracts';

/** The ID of every context that was not added while the service ran. */
const CONFIGURED = 'configured';

/** The folders and contexts for which roles are assigned. */
export class ServicePlaces implements RolePlaces {
  /** The moments at which contexts were added, by their names. */
  private added: ReadonlyMap<string, string> | undefined;

  constructor(
    private readonly folders: FolderIds,
    private readonly contexts: AddedContextStore,
  ) {
    // For as long as the process lives.
    contexts.subscribe(() => (this.added = undefined));
  }

  idOf(path: string): string | undefined {
    return this.folders.idOf(path);
  }

  pathOf(folderId: string): string | undefined {
    return this.folders.pathOf(folderId);
  }

  /** A context that is added again under its name is another one. */
  contextIdOf(name: string): string {
    this.added ??= new Map(this.contexts.all().map((one) => [one.name, `added ${one.addedAt}`]));
    return this.added.get(name) ?? CONFIGURED;
  }

  subscribe(listener: () => void): () => void {
    const leave = [this.folders.subscribePaths(listener), this.contexts.subscribe(listener)];
    return () => leave.forEach((one) => one());
  }
}
