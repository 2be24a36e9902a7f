import { createHash } from 'node:crypto';
import {
  DomainError,
  formatRef,
  MAX_NAME_LENGTH,
  messageOf,
  type BulkOrigin,
  type Caller,
  type InstanceDirectory,
  type MemberRef,
  type ScheduledSnapshot,
  type ScheduledSnapshotStore,
  type TaskRunner,
} from '@headgate/domain-contracts';
import type { ListSnapshots } from './list-snapshots.js';
import type { CreateSnapshot, DeleteSnapshot } from './vm-snapshots.js';

const HASH_DIGITS = 6;

export interface ScheduledSnapshottingDeps {
  readonly createSnapshot: CreateSnapshot;
  readonly deleteSnapshot: DeleteSnapshot;
  readonly listSnapshots: ListSnapshots;
  readonly store: ScheduledSnapshotStore;
  readonly tasks: Pick<TaskRunner, 'get' | 'whenEnded'>;
  readonly directory: Pick<InstanceDirectory, 'resolve'>;
}

/** An instance, and the record of the snapshots that a schedule has created of it. */
interface Subject {
  readonly ref: MemberRef & { readonly uid: string };
  /** The key of the record. */
  readonly schedule: string;
  readonly id: string;
  readonly caller: Caller;
}

/**
 * Creates the snapshot of an instance for a schedule, and deletes the oldest ones of those that this schedule has
 * created of it. A snapshot is recorded before it is requested, and counts as created by the schedule only when its end
 * was seen: any other one is left alone, also one that has the name of a deleted one.
 */
export class ScheduledSnapshotting {
  constructor(private readonly deps: ScheduledSnapshottingDeps) {}

  /**
   * Resolves when the snapshot is complete and the old ones are deleted.
   * @returns the ID of the task that has created it, if it was one
   * @throws DomainError the refusal of the snapshot, and of a deletion
   */
  async run(
    member: MemberRef,
    { id: schedule, planned, keep }: BulkOrigin,
    caller: Caller,
  ): Promise<string | undefined> {
    const { uid } = this.deps.directory.resolve(member);
    const subject = { ref: { ...member, uid }, schedule, id: formatRef(member), caller };
    const name = snapshotName(subject, planned);
    // A repeated attempt may only have old ones to delete.
    const task = this.isCreated(subject, name) ? undefined : await this.create(subject, name);
    if (keep !== undefined) await this.prune(subject, keep, name);
    return task;
  }

  private async create(subject: Subject, name: string): Promise<string | undefined> {
    const { createSnapshot, listSnapshots } = this.deps;
    const { ref, caller } = subject;
    await this.record(subject, (snapshots) => [...snapshots, { name }]);
    let task: string | undefined;
    try {
      ({ task } = await createSnapshot.run(ref, { name }, caller));
      if (task !== undefined) await this.whenDone(task);
    } catch (error) {
      // One that may still be completed stays recorded, and is never deleted.
      const isRefused = DomainError.is(error) && !DomainError.is(error, 'BACKEND_UNREACHABLE', 'BACKEND_TIMEOUT');
      if (isRefused) await this.record(subject, (snapshots) => snapshots.filter((one) => one.name !== name));
      throw error;
    }
    const found = (await listSnapshots.list(ref)).find((one) => one.name === name);
    if (found?.phase === 'Succeeded')
      await this.record(subject, (snapshots) =>
        snapshots.map((one) => (one.name === name ? { name, creationTime: found.creationTime } : one)),
      );
    return task;
  }

  /** Deletes the oldest snapshots of the schedule until `keep` remain. */
  private async prune(subject: Subject, keep: number, created: string): Promise<void> {
    const { deleteSnapshot, listSnapshots } = this.deps;
    const { ref, caller } = subject;
    const existing = new Map((await listSnapshots.list(ref)).map((one) => [one.name, one.creationTime]));
    const isGone = ({ name, creationTime }: ScheduledSnapshot): boolean =>
      creationTime === undefined ? !existing.has(name) : existing.get(name) !== creationTime;
    const record = await this.record(subject, (snapshots) => snapshots.filter((one) => !isGone(one)));
    const own = record.filter(({ creationTime }) => creationTime !== undefined);
    for (const { name, creationTime } of own.slice(0, Math.max(0, own.length - keep))) {
      try {
        const task = await deleteSnapshot.run(ref, name, creationTime, caller);
        if (task !== undefined) await this.whenDone(task);
      } catch (error) {
        if (!DomainError.is(error, 'SNAPSHOT_NOT_FOUND')) throw notDeleted(error, created, name);
      }
      await this.record(subject, (snapshots) => snapshots.filter((one) => one.name !== name));
    }
  }

  private isCreated({ schedule, id, ref }: Subject, name: string): boolean {
    const record = this.deps.store.of(schedule).find((one) => one.id === id && one.uid === ref.uid);
    return record?.snapshots.some((one) => one.name === name && one.creationTime !== undefined) ?? false;
  }

  /** Changes the record; that of an earlier instance of the name is replaced. @returns its snapshots */
  private async record(
    { schedule, id, ref: { uid } }: Subject,
    change: (snapshots: readonly ScheduledSnapshot[]) => readonly ScheduledSnapshot[],
  ): Promise<readonly ScheduledSnapshot[]> {
    const { store } = this.deps;
    const distinct = (snapshots: readonly ScheduledSnapshot[]): ScheduledSnapshot[] => [
      ...new Map(snapshots.map((one) => [one.name, one])).values(),
    ];
    const changed = await store.change(schedule, id, (stored) => ({
      ...stored,
      uid,
      snapshots: distinct(change(stored.uid === uid ? stored.snapshots : [])),
    }));
    if (changed) return changed.snapshots;
    const snapshots = change([]);
    await store.put({ owner: schedule, id, uid, snapshots });
    return snapshots;
  }

  /** @throws DomainError when the task has failed */
  private async whenDone(task: string): Promise<void> {
    const { tasks } = this.deps;
    await tasks.whenEnded(task);
    const { status, error } = tasks.get(task);
    if (status === 'error') throw new DomainError('BACKEND_FAILED', error);
    if (status === 'running') throw new Error('The service stops.');
  }
}

/**
 * `<instance>-20261231235959-1a2b3c`: the planned time in UTC, and a hash of the schedule and the instance, because the
 * VMs of a namespace share the names of snapshots, and other schedules may have the same time.
 */
function snapshotName({ ref, schedule, id }: Subject, planned: string): string {
  const digits = new Date(planned).toISOString().replace(/\D/g, '').slice(0, 14);
  const hash = createHash('sha256').update(`${schedule} ${id}`).digest('hex').slice(0, HASH_DIGITS);
  const end = `-${digits}-${hash}`;
  return `${ref.name.slice(0, MAX_NAME_LENGTH - end.length)}${end}`;
}

const notDeleted = (error: unknown, created: string, name: string): DomainError =>
  new DomainError(
    DomainError.is(error) ? error.code : 'BACKEND_FAILED',
    `The snapshot ${created} was created, but ${name} could not be deleted: ${messageOf(error)}`,
  );
