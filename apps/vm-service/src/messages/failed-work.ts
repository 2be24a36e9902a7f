import { isInstanceRef, type Clock, type Schedule, type ScheduleStore, type Task } from '@headgate/domain-contracts';
import type { FailedWork } from '@headgate/messages';
import type { TaskBoard } from '@headgate/tasks';
import { withMembers } from '../tasks/with-members.js';

/** How many tasks are read when the service starts, or becomes the leader. */
const MAX_READ = 500;
const MAX_KEPT = 2000;
const KEPT_MS = 24 * 60 * 60_000;

/** Work that has failed, with what decides who may see it. */
export interface SeenWork extends FailedWork {
  /** The instances of the task. */
  readonly task?: Pick<Task, 'ref' | 'members'>;
  readonly schedule?: Schedule;
}

/** The tasks and the runs of schedules that have failed during the last day. */
export class FailedWorkLog {
  private readonly tasks = new Map<string, SeenWork>();

  constructor(
    private readonly board: Pick<TaskBoard, 'onEnd' | 'recent' | 'get'>,
    private readonly schedules: ScheduleStore,
    private readonly clock: Clock,
  ) {}

  /** @param onChange called when a task has failed */
  start(onChange: () => void): void {
    for (const task of this.board.recent(MAX_READ).toReversed()) this.see(task);
    this.board.onEnd((task) => {
      if (this.see(task) || task.bulk?.schedule) onChange();
    });
  }

  all(): readonly SeenWork[] {
    const oldest = new Date(this.clock.now() - KEPT_MS).toISOString();
    for (const [id, { endedAt }] of this.tasks) if (endedAt < oldest) this.tasks.delete(id);
    const runs = this.schedules
      .all()
      .flatMap((schedule) => runsOf(schedule).filter(({ endedAt }) => endedAt >= oldest));
    return [...this.tasks.values(), ...runs];
  }

  private see(task: Task): boolean {
    const { id, kind, status, error, ref, finishedAt, canceledBy } = task;
    // The run of a schedule is reported as such.
    if (status !== 'error' || finishedAt === null || task.bulk?.schedule) return false;
    const title = ref === '' ? `${kind} (task ${id})` : `${kind} of ${ref}`;
    const severity = canceledBy === undefined ? 'error' : 'info';
    const work = {
      id: `task/${id}`,
      kind: 'task.failed',
      severity,
      title,
      detail: error,
      endedAt: finishedAt,
    } as const;
    const { members } = withMembers(this.board, task);
    this.tasks.set(work.id, {
      ...work,
      ...(isInstanceRef(ref) && { ref }),
      task: { ref, ...(members && { members }) },
    });
    for (const first of this.tasks.keys()) {
      if (this.tasks.size <= MAX_KEPT) break;
      this.tasks.delete(first);
    }
    return true;
  }
}

function runsOf(schedule: Schedule): SeenWork[] {
  return schedule.runs.flatMap(({ id, status, planned, endedAt, recordedAt, reason = '' }): SeenWork[] => {
    if (status !== 'error' && status !== 'missed') return [];
    const isMissed = status === 'missed';
    return [
      {
        id: `schedule/${schedule.id}/${id}`,
        kind: isMissed ? 'schedule.missed' : 'schedule.failed',
        severity: isMissed ? 'warning' : 'error',
        title: `${schedule.name}, planned for ${planned}`,
        detail: reason,
        endedAt: endedAt ?? recordedAt,
        schedule,
      },
    ];
  });
}
