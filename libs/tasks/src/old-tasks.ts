import { messageOf, type Clock, type Log, type Replicas, type TaskStore } from '@headgate/domain-contracts';

/** Ended tasks are deleted after this time. */
const RETENTION_MS = 90 * 86_400_000;
const RETENTION_INTERVAL_MS = 3_600_000;

export interface OldTasksDeps {
  readonly store: TaskStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly replicas: Pick<Replicas, 'isLeader'>;
}

/** Deletes the tasks that have ended long ago. In a store that replicas share, the leader does. */
export class OldTasks {
  private stop = (): void => undefined;

  constructor(private readonly deps: OldTasksDeps) {}

  /** Deletes them now and every hour. */
  async open(): Promise<void> {
    await this.delete();
    this.stop = this.deps.clock.every(RETENTION_INTERVAL_MS, () => void this.delete());
  }

  close(): void {
    this.stop();
  }

  private async delete(): Promise<void> {
    const { store, clock, log, replicas } = this.deps;
    if (!replicas.isLeader) return;
    try {
      await store.deleteBefore(new Date(clock.now() - RETENTION_MS).toISOString());
    } catch (error) {
      log.warn({ reason: messageOf(error) }, 'deleting old tasks failed');
    }
  }
}
