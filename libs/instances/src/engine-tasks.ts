import { randomUUID } from 'node:crypto';
import {
  DomainError,
  formatRef,
  isRunningStatus,
  isVm,
  messageOf,
  parseRef,
  reporterOf,
  type BackgroundWork,
  type Caller,
  type DefinedTask,
  type Instance,
  type InstanceDirectory,
  type InstanceRef,
  type OperationKey,
  type OperationState,
  type Patience,
  type Reservation,
  type Resumption,
  type StepContext,
  type StepDefinition,
  type TaskContext,
  type TaskDefinition,
  type TaskJournal,
  type TaskKind,
  type TaskRunner,
  type WorkOutcome,
} from '@headgate/domain-contracts';

/** The instance of an operation, as it was when the operation was requested. */
interface EngineInput {
  /** Identifies the request within its process. */
  readonly request: string;
  /** The instance, as text. */
  readonly ref: string;
  readonly uid: string;
  readonly wasRunning: boolean;
  readonly node?: string;
}

/** An operation that an engine carries out, and that can be found again there by the ID of its task. */
export interface EngineOperation<Params extends object> {
  readonly kind: Exclude<TaskKind, 'bulk'>;
  /** Completes the names of the steps: "the restore of one". */
  readonly label: (params: Params) => string;
  readonly patience: (params: Params) => Patience;
  /** Whether it can be canceled once it was requested, until it commits. */
  readonly isCancelable: (params: Params) => boolean;
  /**
   * Whether it starts the guest again afterwards. Asked under the reservation, when no other operation changes that.
   * Undefined, and the default: whether the instance runs according to the list of instances.
   */
  readonly startsAgain?: (ref: InstanceRef) => Promise<boolean> | undefined;
  /** Requests it. @returns the work that continues, if there is any */
  begin(ref: InstanceRef, params: Params, key: OperationKey): Promise<BackgroundWork | undefined>;
  stateOf(ref: InstanceRef, params: Params, key: OperationKey): Promise<OperationState>;
  resume(ref: InstanceRef, params: Params, key: OperationKey): Promise<BackgroundWork>;
  discard(ref: InstanceRef, params: Params, key: OperationKey, signal: AbortSignal): Promise<void>;
}

export interface EngineTasksDeps {
  readonly tasks: TaskRunner;
  readonly directory: InstanceDirectory;
}

export interface EngineRequest<Params extends object> {
  /** The ID of the task, if it is known before. */
  readonly id?: string;
  /** In the ID of the task. */
  readonly name: string;
  /** The instance that the engine is asked about. */
  readonly ref: InstanceRef;
  /** The instance of the task. Default: `ref`. */
  readonly subject?: InstanceRef;
  readonly params: Params;
  readonly caller: Caller;
  readonly reservation: Reservation;
}

export interface StartedOperation {
  readonly task: string;
  /** Whether the task goes on. */
  readonly continues: boolean;
}

interface Begun {
  /** Resolves with whether work continues after the request. */
  readonly accepted: PromiseWithResolvers<boolean>;
  work?: BackgroundWork;
  hasBegun: boolean;
}

/**
 * Tasks that carry out operations of an engine. The task is journaled before the engine is asked, so that no restart
 * forgets an operation that goes on there: the next process looks for it by the ID of the task, and follows it,
 * requests it, or removes its remains.
 */
export class EngineTasks<Params extends object> {
  private readonly task: DefinedTask<Params & EngineInput>;
  /** The operations that this process has requested. */
  private readonly begun = new Map<string, Begun>();

  constructor(
    private readonly deps: EngineTasksDeps,
    private readonly operation: EngineOperation<Params>,
  ) {
    this.task = deps.tasks.define(this.definition());
  }

  /**
   * Starts a task, and waits until the engine has accepted or refused the operation.
   * @throws DomainError the refusal of the engine
   */
  async start({
    id,
    name,
    ref,
    subject = ref,
    params,
    caller,
    reservation,
  }: EngineRequest<Params>): Promise<StartedOperation> {
    const { tasks, directory } = this.deps;
    const found = directory.get(ref);
    const wasRunning = (await this.operation.startsAgain?.(ref)) ?? (found !== undefined && isRunning(found));
    const request = randomUUID();
    const begun: Begun = { accepted: Promise.withResolvers(), hasBegun: false };
    begun.accepted.promise.catch(() => undefined);
    this.begun.set(request, begun);
    const input = {
      ...params,
      request,
      ref: formatRef(ref),
      uid: found?.uid ?? '',
      wasRunning,
      ...(found?.node !== undefined && { node: found.node }),
    };
    try {
      const task = await this.task.start(
        { ...(id !== undefined && { id }), name, ref: formatRef(subject), input, reservation },
        caller,
      );
      const ended = tasks.whenEnded(task);
      const continues = await Promise.race([begun.accepted.promise, ended.then(() => false)]).catch(
        async (error: unknown) => {
          // What a refused request may have left is removed first, so that it can be repeated immediately.
          if (!DomainError.is(error, 'BACKEND_UNREACHABLE', 'BACKEND_TIMEOUT')) await ended;
          throw error;
        },
      );
      if (continues) return { task, continues };
      await ended;
      const { status, error } = tasks.get(task);
      if (status === 'error') throw new DomainError('BACKEND_FAILED', error);
      return { task, continues: status === 'running' };
    } finally {
      begun.accepted.resolve(false);
    }
  }

  private definition(): TaskDefinition<Params & EngineInput> {
    const { kind } = this.operation;
    return {
      kind,
      version: 1,
      steps: (input) => this.steps(input),
      resume: (journal, context) => this.resumption(journal, context),
      rollback: (journal, context) => this.undo(journal, context),
      result: ({ steps }) => steps.at(-1)?.result as WorkOutcome | undefined,
    };
  }

  private steps(input: Params & EngineInput): StepDefinition<Params & EngineInput>[] {
    const { label, patience, isCancelable } = this.operation;
    return [
      { name: `Request ${label(input)}`, ...patience(input), run: (context) => this.request(context) },
      {
        name: `Follow ${label(input)}`,
        ...patience(input),
        isCancelable: isCancelable(input),
        weight: 9,
        run: (context) => this.follow(context),
      },
    ];
  }

  private async request({ input, task }: StepContext<Params & EngineInput>): Promise<void> {
    const known = this.begun.get(input.request);
    try {
      const ref = this.expectSame(input);
      const work = await this.operation.begin(ref, input, keyOf(task, input));
      if (!known) return;
      known.hasBegun = true;
      if (work) known.work = work;
      known.accepted.resolve(work !== undefined);
    } catch (error) {
      known?.accepted.reject(error);
      throw error;
    }
  }

  /** @returns what the work has measured, if it has */
  private async follow(context: StepContext<Params & EngineInput>): Promise<WorkOutcome | undefined> {
    const { input } = context;
    const known = this.begun.get(input.request);
    this.begun.delete(input.request);
    const work = known?.hasBegun ? known.work : await this.continued(context);
    let outcome: WorkOutcome | undefined;
    await work?.(
      reporterOf(context, (facts) => {
        outcome = { ...outcome, ...facts };
      }),
    );
    return outcome;
  }

  /** The rest of an operation that an earlier process has requested. */
  private async continued({
    input,
    task,
    log,
  }: StepContext<Params & EngineInput>): Promise<BackgroundWork | undefined> {
    const { operation } = this;
    const ref = parseRef(input.ref);
    const key = keyOf(task, input);
    const found = await operation.stateOf(ref, input, key);
    if (found.state === 'done') return undefined;
    if (found.state === 'failed') throw new DomainError('BACKEND_FAILED', found.reason);
    this.expectSame(input);
    if (found.state === 'running') return operation.resume(ref, input, key);
    log('The backend has nothing of it, so that it is requested again.');
    return operation.begin(ref, input, key);
  }

  private async resumption(journal: TaskJournal<Params & EngineInput>, { log }: TaskContext): Promise<Resumption> {
    const { input, task, steps } = journal;
    const last = steps.at(-1);
    if (!last) return { action: 'continue' };
    const found = await this.operation.stateOf(parseRef(input.ref), input, keyOf(task, input));
    log(`The service was restarted. ${STATES[found.state]}`);
    if (found.state === 'failed') return { action: 'rollback', reason: found.reason };
    if (found.state === 'absent' || last.isFinished) return { action: 'continue' };
    const isRequest = steps.length === 1;
    // The second step looks again, and does the rest.
    return isRequest ? { action: 'finished' } : { action: 'continue' };
  }

  private async undo(journal: TaskJournal<Params & EngineInput>, { log, signal }: TaskContext): Promise<void> {
    const { input, task, isLimited } = journal;
    this.begun.delete(input.request);
    const { operation } = this;
    const ref = parseRef(input.ref);
    const key = keyOf(task, input);
    try {
      // The source of a clone is not changed, and its remains are removed even if the source is gone.
      if (operation.kind !== 'clone') this.expectSame(input);
      const found = await operation.stateOf(ref, input, key);
      if (found.state === 'done') return log('It was done already, and stays.');
      await operation.discard(ref, input, key, signal);
    } catch (error) {
      if (DomainError.is(error, 'INSTANCE_NOT_FOUND')) return log(`Nothing was undone: ${messageOf(error)}`);
      // It was accepted with rights that were checked then, and half of it would be worse.
      if (isLimited !== true || !DomainError.is(error, 'WRONG_STATE')) throw error;
      log(`${messageOf(error)} It is completed.`);
      const work = await operation.resume(ref, input, key);
      await work({ step: log, log, progress: () => undefined, signal });
    }
  }

  /** @throws DomainError INSTANCE_NOT_FOUND when another instance has the name now */
  private expectSame({ ref: text, uid }: EngineInput): InstanceRef {
    const ref = parseRef(text);
    const found = this.deps.directory.get(ref);
    if (found && uid !== '' && found.uid !== uid)
      throw new DomainError('INSTANCE_NOT_FOUND', `${ref.name} was deleted, and another instance has its name now.`);
    return ref;
  }
}

const STATES: Readonly<Record<OperationState['state'], string>> = {
  absent: 'The backend has nothing of the operation.',
  running: 'The operation has begun, and is not done yet.',
  done: 'The operation is done.',
  failed: 'The operation has failed.',
};

const isRunning = (instance: Instance): boolean =>
  isVm(instance) ? isRunningStatus(instance.status) : instance.phase === 'Running';

const keyOf = (id: string, { wasRunning, node }: EngineInput): OperationKey => ({
  id,
  wasRunning,
  ...(node !== undefined && { node }),
});

/** The patience with an operation that reports each change of its state. */
export const enginePatience = (waitsFor: string, ifStalled: string): Patience => ({
  stallMs: ENGINE_STALL_MS,
  waitsFor,
  ifStalled,
});

const ENGINE_STALL_MS = 30 * 60_000;
