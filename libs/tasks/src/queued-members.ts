import {
  MemberSkipped,
  messageOf,
  parseRef,
  type BulkRequest,
  type Caller,
  type MemberTasks,
  type Task,
  type TaskMember,
} from '@headgate/domain-contracts';

/** The tasks of members, as the board has them. */
export interface MemberTaskRuns {
  newId(kind: MemberTasks['kind'], name: string): string;
  find(id: string): Task | undefined;
  /**
   * Resolves when this process no longer runs the task: it has ended, or continues after the next start of the service.
   */
  ended(id: string): Promise<Task | undefined>;
}

/**
 * The members of a queue. The ID of a member's task is journaled before the task exists, so that a restart finds the
 * task, or knows that nothing has begun.
 */
export class QueuedMembers {
  constructor(
    private readonly work: MemberTasks,
    private readonly runs: MemberTaskRuns,
    private readonly request: BulkRequest,
    private readonly caller: Caller,
  ) {}

  hostsOf(ref: string): readonly string[] {
    return this.work.hostsOf(this.request, parseRef(ref));
  }

  /** The member as it is journaled before its work begins. */
  begin(ref: string): TaskMember {
    return { ref, status: 'running', task: this.runs.newId(this.work.kind, parseRef(ref).name) };
  }

  /**
   * Starts the task of a member, unless an earlier process has, and waits for its end. `running`: it continues after
   * the next start.
   */
  async run({ ref, task: id = '' }: TaskMember): Promise<Omit<TaskMember, 'ref'>> {
    const { work, runs, request, caller } = this;
    if (!runs.find(id)) {
      try {
        await work.start(request, parseRef(ref), { task: id, caller });
      } catch (error) {
        return { status: error instanceof MemberSkipped ? 'skipped' : 'error', error: messageOf(error) };
      }
    }
    return resultOf(id, await runs.ended(id));
  }

  /** @param log of the task */
  async afterwards(members: readonly TaskMember[], log: (text: string) => void): Promise<void> {
    const { work, request, caller } = this;
    try {
      await work.afterwards?.(request, members, { caller, log });
    } catch (error) {
      log(messageOf(error));
    }
  }

  /** The result of a member that an earlier process began, and that may not be started again. */
  async finish({ task: id = '' }: TaskMember): Promise<Omit<TaskMember, 'ref'>> {
    return this.runs.find(id)
      ? resultOf(id, await this.runs.ended(id))
      : { status: 'skipped', error: 'It had not begun before the restart.' };
  }
}

function resultOf(task: string, ended: Task | undefined): Omit<TaskMember, 'ref'> {
  if (ended?.status === 'running') return { status: 'running', task };
  return ended?.status === 'done'
    ? { status: 'done', task }
    : { status: 'error', task, error: ended?.error ?? 'Its task is no longer known.' };
}
