import { SystemClock, type Task, type TaskJournal } from '@headgate/domain-contracts';
import { SqliteTaskStore, type RegistryDatabase } from '@headgate/registry-store';

/**
 * Kills the process with SIGKILL before or after one of its writes, so that a test can look at each moment of a task.
 */
export class KillingStore extends SqliteTaskStore {
  /** `begin STEP`, `end STEP`, or `other`. */
  readonly writes: string[] = [];

  /** @param killAt such as `after:3`, the moment of the third write; never without it */
  constructor(
    database: RegistryDatabase,
    private readonly killAt?: string,
  ) {
    super(database);
  }

  override async put(task: Task, journal?: TaskJournal): Promise<void> {
    const last = journal?.steps.at(-1);
    this.writes.push(last ? `${last.isFinished ? 'end' : 'begin'} ${last.name}` : 'other');
    this.reach('before');
    await super.put(task, journal);
    this.reach('after');
  }

  private reach(moment: string): void {
    if (this.killAt === `${moment}:${this.writes.length}`) process.kill(process.pid, 'SIGKILL');
  }
}

/** Only the steps of a task write, so that each run has the same writes. */
export class ClockWithoutTimers extends SystemClock {
  override after(): () => void {
    return () => undefined;
  }
}
