import { DomainError, formatRef, SingleReplica, type InstanceRef, type Replicas } from '@headgate/domain-contracts';

interface SourceInMove {
  /** The ID of the task; absent while it is being journaled. */
  readonly task?: string;
  /** Whether other replicas are refused to move the source. */
  readonly isClaimed: boolean;
}

/** The VMs that are being moved. */
export class MovesInProgress {
  /** By the refs of the sources, as text. A source may be kept after the end of its task. */
  private readonly sources = new Map<string, SourceInMove>();

  /**
   * @param isMovedElsewhere whether another replica moves the VM of that ref, which is text. The task of a move may be visible only shortly after its begin
   * @param claims decides between replicas that begin to move the same VM before they see the task of the other
   */
  constructor(
    private readonly isRunning: (task: string) => boolean,
    private readonly isMovedElsewhere: (ref: string) => boolean = () => false,
    private readonly claims: Pick<Replicas, 'id' | 'claim' | 'release'> = new SingleReplica(),
  ) {}

  has(source: InstanceRef): boolean {
    const ref = formatRef(source);
    if (this.isMovedElsewhere(ref)) return true;
    const move = this.sources.get(ref);
    return move !== undefined && (move.task === undefined || this.isRunning(move.task));
  }

  /**
   * From now on, the source is being moved, although its task is not known yet. Followed by `begin` or `giveUp`.
   * @param source as text
   * @throws DomainError BUSY when another replica moves it
   */
  async reserve(source: string): Promise<void> {
    this.sources.set(source, { isClaimed: false });
    try {
      const isClaimed = (await this.claims.claim(claimOf(source))) === this.claims.id;
      this.sources.set(source, { isClaimed });
      if (!isClaimed || this.isMovedElsewhere(source))
        throw new DomainError('BUSY', `${source} is being moved by another replica: wait until that task has ended.`);
    } catch (error) {
      await this.giveUp(source);
      throw error;
    }
  }

  /** @param source as text */
  add(source: string, task: string): void {
    this.sources.set(source, { task, isClaimed: this.sources.get(source)?.isClaimed ?? false });
  }

  /** The task of a reserved source has started. */
  async begin(source: string, task: string): Promise<void> {
    this.add(source, task);
    // It may have ended already. A claim that is not released does not outlive this replica.
    if (!this.isRunning(task)) await this.end(source, task).catch(() => undefined);
  }

  /** No task has started for a reserved source. */
  async giveUp(source: string): Promise<void> {
    const { isClaimed = false } = this.sources.get(source) ?? {};
    this.sources.delete(source);
    if (isClaimed) await this.claims.release(claimOf(source));
  }

  /** Call when the task of a move has ended, in whichever replica. Does nothing if it was not started here. */
  async end(source: string, task: string): Promise<void> {
    const move = this.sources.get(source);
    if (move?.task !== task) return;
    if (move.isClaimed) await this.claims.release(claimOf(source));
    if (this.sources.get(source) === move) this.sources.delete(source);
  }
}

const claimOf = (source: string): string => `move ${source}`;
