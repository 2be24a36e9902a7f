import {
  DomainError,
  messageOf,
  SharedTaskStore,
  type Clock,
  type Log,
  type Replicas,
  type Task,
  type TaskRequest,
  type TaskStore,
} from '@headgate/domain-contracts';
import { FollowedTask } from './followed-task.js';
import { committed, notCancelable } from './steps-run.js';
import type { LiveTask } from './task-reader.js';

/** How often the leader looks for tasks whose replica is gone. */
const TAKE_OVER_INTERVAL_MS = 2_000;

export interface SharedTasksDeps {
  readonly store: TaskStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly replicas: Replicas;
  /** Whether this process runs the task. */
  readonly runsHere: (id: string) => boolean;
  /** Continues or ends a task that this replica has taken over. */
  readonly continueTask: (task: Task) => Promise<void>;
  /** Carries out what another replica asks the runner of a task. */
  readonly carryOut: (id: string, request: TaskRequest) => Promise<void>;
  /** Another replica runs the task. */
  readonly onSeen: (task: Task) => void;
  /** A task of another replica has changed, or was created. */
  readonly onChange: (task: Task) => void;
  /** A task of another replica has ended. */
  readonly onEnd: (task: Task) => void;
}

/**
 * The tasks of the other replicas: follows them, asks their runners, and takes over those whose runner is gone. Does
 * nothing if the store is not shared.
 */
export class SharedTasks {
  private readonly store: SharedTaskStore | undefined;
  private readonly followed = new Map<string, FollowedTask>();
  private readonly running = new Set<string>();
  private readonly waiting = new Set<() => void>();
  private stopFollowing = (): void => undefined;
  private stopTakingOver = (): void => undefined;
  private isTakingOver = false;
  private isClosed = false;

  constructor(private readonly deps: SharedTasksDeps) {
    this.store = deps.store instanceof SharedTaskStore ? deps.store : undefined;
  }

  get isShared(): boolean {
    return this.store !== undefined;
  }

  follow(): void {
    if (!this.store) return;
    for (const task of this.store.running()) {
      this.running.add(task.id);
      this.deps.onSeen(task);
    }
    this.stopFollowing = this.store.subscribe((task, request) => this.onChange(task, request));
  }

  /** Begins to take tasks over, while this replica is the leader. Call when the backends can be used. */
  startTakingOver(): void {
    if (!this.store || this.isClosed) return;
    const { clock, replicas } = this.deps;
    const stopTicks = clock.every(TAKE_OVER_INTERVAL_MS, () => void this.takeOver());
    const takeOver = (): void => void this.takeOver();
    const unsubscribe = replicas.subscribe({ elected: takeOver, joined: takeOver });
    this.stopTakingOver = () => {
      stopTicks();
      unsubscribe();
    };
  }

  close(): void {
    this.isClosed = true;
    this.stopFollowing();
    this.stopTakingOver();
  }

  /** Whether another replica runs the task. */
  isElsewhere({ id, status }: Task): boolean {
    return this.store !== undefined && status === 'running' && !this.deps.runsHere(id);
  }

  live(id: string): LiveTask | undefined {
    const task = this.store?.get(id);
    if (!task || task.status !== 'running') return undefined;
    let followed = this.followed.get(id);
    if (!followed) {
      followed = new FollowedTask(task, () => this.followed.delete(id));
      this.followed.set(id, followed);
    }
    return followed;
  }

  /** Shows the changes of a task that this replica has taken over to those who followed it before. */
  followHere(id: string, task: LiveTask): void {
    task.subscribe(() => this.followed.get(id)?.update(task.current));
  }

  /** Resolves when no other replica runs the task, or this one stops its work. */
  whenHereOrEnded(id: string): Promise<void> {
    const isOpen = (): boolean => {
      const task = this.store?.get(id);
      return task !== undefined && this.isElsewhere(task);
    };
    if (!isOpen()) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        this.waiting.delete(end);
        unsubscribe?.();
        resolve();
      };
      const unsubscribe = this.store?.subscribe(({ id: changed }) => {
        if (changed === id && !isOpen()) end();
      });
      this.waiting.add(end);
    });
  }

  /** Ends all `whenHereOrEnded`, because this replica stops its work. */
  stopWaiting(): void {
    for (const end of [...this.waiting]) end();
  }

  /** @throws DomainError WRONG_STATE when the task can't be canceled now */
  async cancel(task: Task, login: string): Promise<void> {
    if (task.cancelRefusal !== undefined) throw committed(task.id, task.cancelRefusal);
    if (!task.cancelable) throw notCancelable(task.id, task.steps.at(-1)?.name);
    await this.store?.request(task.id, { action: 'cancel', login });
  }

  /** @throws DomainError WRONG_STATE */
  async pause({ id, bulk, canceledBy }: Task, isPaused: boolean): Promise<void> {
    if (!bulk) throw new DomainError('WRONG_STATE', `The task ${id} can't be paused; only bulk tasks can.`);
    if (canceledBy !== undefined) throw new DomainError('WRONG_STATE', `The task ${id} was canceled.`);
    await this.store?.request(id, { action: isPaused ? 'pause' : 'continue' });
  }

  /**
   * Takes over the running tasks whose replica is gone, if this one is the leader. The others look too, so that a new
   * leader knows how long a replica is silent. Each replica continues its own tasks, which it has stopped while it did
   * not reach the store.
   */
  async takeOver(): Promise<void> {
    const { store } = this;
    const { replicas, runsHere, continueTask, log } = this.deps;
    if (!store || this.isTakingOver || this.isClosed) return;
    this.isTakingOver = true;
    const gone = new Map<string, boolean>();
    // Before a replica is found to be gone: if it comes back meanwhile, it writes its tasks, and they are not taken.
    const runs = store.running().map(({ id }) => ({ id, run: store.runOf(id) }));
    try {
      for (const { id, run } of runs) {
        if (!run || runsHere(id)) continue;
        const { runner } = run;
        const isOwn = runner === replicas.id;
        const isGone = isOwn || (gone.get(runner) ?? (await replicas.isGone(runner)));
        gone.set(runner, isGone);
        if (!isGone || runsHere(id) || !this.mayTakeOver(isOwn)) continue;
        const task = await store.take(id, run);
        if (!task) continue;
        log.info({ id, runner }, 'a task was taken over');
        await continueTask(task);
      }
    } catch (error) {
      log.warn({ reason: messageOf(error) }, 'taking over the tasks of other replicas failed');
    } finally {
      this.isTakingOver = false;
    }
  }

  private mayTakeOver(isOwn: boolean): boolean {
    const { replicas } = this.deps;
    return !this.isClosed && replicas.isMember && (isOwn || replicas.isLeader);
  }

  private onChange(task: Task, request: TaskRequest | undefined): void {
    const { id, status } = task;
    const { runsHere, carryOut, onSeen, onChange, onEnd, log } = this.deps;
    if (runsHere(id)) {
      if (request)
        void carryOut(id, request).catch((error: unknown) =>
          log.warn({ id, reason: messageOf(error) }, 'the request of another replica was not carried out'),
        );
      return;
    }
    this.followed.get(id)?.update(task);
    onChange(task);
    if (status === 'running') {
      this.running.add(id);
      onSeen(task);
    } else if (this.running.delete(id)) onEnd(task);
  }
}
