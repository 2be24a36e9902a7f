import { OwnedStore, type OwnedObject } from './owned-store.port.js';

/** A snapshot that a schedule has requested. */
export interface ScheduledSnapshot {
  readonly name: string;
  /**
   * When the backend has saved it, ISO 8601: another snapshot of this name has another time. Absent until the snapshot
   * is complete, and for one whose end was not seen, which is never deleted.
   */
  readonly creationTime?: string;
}

/** The snapshots of one instance that a schedule has created. Snapshots themselves say nothing about that. */
export interface ScheduledSnapshots extends OwnedObject {
  /** The ID of the schedule. */
  readonly owner: string;
  /** The ref of the instance, as text. */
  readonly id: string;
  /** The backend's ID of the instance: those of an earlier one of its name are gone. */
  readonly uid: string;
  /** The oldest first. */
  readonly snapshots: readonly ScheduledSnapshot[];
}

/** Stores which snapshots schedules have created, by the ID of the instance. */
export abstract class ScheduledSnapshotStore extends OwnedStore<ScheduledSnapshots> {
  /**
   * Changes the latest version of a record; no other write comes between.
   * @param change returns undefined to leave it as it is. It may be called again with a version that has its change
   *   already
   * @returns the record; undefined if there is none
   */
  abstract change(
    owner: string,
    id: string,
    change: (stored: ScheduledSnapshots) => ScheduledSnapshots | undefined,
  ): Promise<ScheduledSnapshots | undefined>;
}

/** The order of `ScheduledSnapshotStore.of`. */
export const byInstanceUid = (a: ScheduledSnapshots, b: ScheduledSnapshots): number =>
  a.uid < b.uid ? -1 : a.uid > b.uid ? 1 : a.id < b.id ? -1 : 1;
