/** An instance in a folder. It stays in the folder while the instance does not exist. */
export interface FolderMember {
  /** The ref as text. */
  readonly ref: string;
  readonly path: string;
}

/** All folders at one moment. */
export interface FolderRecords {
  /** Changes with each commit. Opaque. */
  readonly version: string;
  /** Every folder, including those that only contain others. */
  readonly paths: readonly string[];
  readonly members: readonly FolderMember[];
}

/** A change of the folders, carried out in the order of its fields. */
export interface FolderDelta {
  /** Folders that no longer exist; their members are in no folder then. */
  readonly removed: readonly string[];
  /** Folders that keep their members under another path. */
  readonly renamed: readonly { readonly from: string; readonly to: string }[];
  readonly created: readonly string[];
  /** Instances and their new folder; `undefined`: none. */
  readonly assigned: readonly { readonly ref: string; readonly path: string | undefined }[];
}

/** Stores the folders. Several replicas of the service may share one store. */
export abstract class FolderStore {
  abstract read(): Promise<FolderRecords>;

  /**
   * Carries out a change completely or not at all; a commit that has returned is durable.
   * @param version the version that the change was checked against
   * @returns the new version
   * @throws DomainError CONFLICT when the store has another version
   */
  abstract commit(version: string, delta: FolderDelta): Promise<string>;

  /**
   * Reports changes by other replicas until the returned function is called. A store that only one process uses has none.
   * @param listener called with the version after the change; it may also be called for own changes
   */
  subscribe(listener: (version: string) => void): () => void {
    void listener;
    return () => undefined;
  }
}

/** Finds the folder of an instance. */
export abstract class FolderDirectory {
  /** @param ref as text, which callers have at hand */
  abstract folderOf(ref: string): string | undefined;

  /** Calls the listener with the refs, as text, whose folder has changed, until the returned function is called. */
  abstract subscribe(listener: (refs: Iterable<string>) => void): () => void;
}
