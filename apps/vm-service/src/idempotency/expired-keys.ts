import { messageOf, type Clock, type Log, type Replicas, type ReplyStore } from '@headgate/domain-contracts';

const INTERVAL_MS = 10 * 60_000;

/** Deletes expired idempotency keys with their answers; of several replicas, the leader does so. */
export class ExpiredKeys {
  private stop = (): void => undefined;
  private deleting: Promise<void> = Promise.resolve();

  constructor(
    private readonly store: ReplyStore,
    private readonly replicas: Replicas,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  start(): void {
    this.stop = this.clock.every(INTERVAL_MS, () => {
      if (this.replicas.isLeader) this.deleting = this.deleting.then(() => this.delete());
    });
  }

  /** Resolves when the last deletion has ended. */
  async close(): Promise<void> {
    this.stop();
    await this.deleting;
  }

  private async delete(): Promise<void> {
    try {
      await this.store.deleteExpired(this.clock.iso());
    } catch (error) {
      this.log.warn({ reason: messageOf(error) }, 'expired idempotency keys were not deleted');
    }
  }
}
