import type { Instance } from '../model/instance.js';
import type { InstanceIdentity } from '../model/instance-identity.js';

/**
 * - `member`: the object with the ID is in the folder, whether it exists at the moment or not.
 * - `ending`: the same, until it is gone. Its deletion was requested.
 * - `unbound`: a release that knew only refs stored it. It is bound to an object, or to none, when its context is
 *   listed.
 */
export type MemberState = 'member' | 'ending' | 'unbound';

/** An instance in a folder. */
export interface FolderMember extends InstanceIdentity {
  /** Empty if it is not known, which is the ID of no instance. */
  readonly uid: string;
  readonly path: string;
  readonly state: MemberState;
}

/** All folders at one moment. */
export interface FolderRecords {
  /** Changes with each commit. Opaque. */
  readonly version: string;
  /** Every folder, including those that only contain others. */
  readonly paths: readonly string[];
  /** A ref may have several, with different IDs. */
  readonly members: readonly FolderMember[];
  /** ISO 8601. No member was stored as `unbound` since. Absent if none ever was. */
  readonly boundSince?: string;
}

/** A new folder of one object; `undefined`: none. */
export interface FolderAssignment extends InstanceIdentity {
  readonly path: string | undefined;
  /** Default: `member`. */
  readonly state?: MemberState;
}

/** A change of the folders, carried out in the order of its fields. */
export interface FolderDelta {
  /** Folders that no longer exist; their members are in no folder then. */
  readonly removed: readonly string[];
  /** Folders that keep their members under another path. */
  readonly renamed: readonly { readonly from: string; readonly to: string }[];
  readonly created: readonly string[];
  /** In this order. */
  readonly assigned: readonly FolderAssignment[];
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
   * The IDs of the folders by their paths, at the last read or commit. A folder keeps its ID with a new path, and the
   * ID of a deleted one is never used again.
   */
  abstract ids(): ReadonlyMap<string, string>;

  /**
   * Reports changes by other replicas until the returned function is called. A store that only one process uses has
   * none.
   * @param listener called with the version after the change; it may also be called for own changes
   */
  subscribe(listener: (version: string) => void): () => void {
    void listener;
    return () => undefined;
  }
}

/** Finds folders by their IDs, which they keep when they are moved. */
export abstract class FolderIds {
  /** @returns undefined for a path without a folder */
  abstract idOf(path: string): string | undefined;

  /** The present path; undefined for a deleted folder. */
  abstract pathOf(id: string): string | undefined;

  /** Calls the listener after folders were created, moved or deleted, until the returned function is called. */
  abstract subscribePaths(listener: () => void): () => void;
}

/** Finds the folder of an instance. */
export abstract class FolderDirectory {
  /** The folder of this object. Another one of its name is in no folder. */
  abstract folderOf(instance: InstanceIdentity): string | undefined;

  /** Whether there is a folder of this path. */
  abstract hasFolder(path: string): boolean;

  /**
   * Puts a new instance into a folder.
   * @param state `ending` for one whose creation continues: it leaves the folder if it disappears, also after the end
   *   of this process, until `complete`
   * @throws DomainError FOLDER_NOT_FOUND when the folder was removed meanwhile; CONFLICT, and errors of the store
   */
  abstract join(instance: Instance, path: string, state: 'member' | 'ending'): Promise<void>;

  /** The creation of an instance has ended. Does nothing if it is in no folder by now. @throws as `join` */
  abstract complete(instance: Instance): Promise<void>;

  /**
   * Deletes an instance, whose membership ends with it: also when it disappears later, or when this process ends
   * meanwhile. An instance that could not be deleted stays a member.
   * @throws DomainError what `remove` throws, or that the folders can't be written; then `remove` was not called
   */
  abstract endWith(instance: Instance, remove: () => Promise<void>): Promise<void>;

  /** Calls the listener with the refs, as text, whose folder has changed, until the returned function is called. */
  abstract subscribe(listener: (refs: Iterable<string>) => void): () => void;
}
