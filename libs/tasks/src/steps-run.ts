import {
  DomainError,
  messageOf,
  retryWhileAway,
  type Caller,
  type JournaledStep,
  type StepContext,
  type StepDefinition,
  type TaskContext,
  type TaskDefinition,
  type TaskJournal,
} from '@headgate/domain-contracts';
import { JournalWriter } from './journal-writer.js';
import { INTERRUPTED, type RunDeps, type RunningTask } from './running-task.js';

/** A step or rollback that interrupted the service this often is not tried again: it may be the reason. */
const MAX_ATTEMPTS = 5;
/** After this time, the log says that a canceled step has not ended. */
const CANCEL_NOTICE_MS = 30_000;
const ROLLBACK = 'rollback';
/** Continuing with more rights than the caller has now would be wrong. */
export const RIGHTS_UNKNOWN = 'Not continued: the rights of its caller are limited, and not kept over a restart.';

/** `suspended`: the service shuts down, and the task continues after its next start. */
export type RunOutcome = 'ended' | 'suspended';

/** Runs the steps of a defined task, resumes them after a restart, and rolls them back. */
export class StepsRun<Input extends object = object> {
  private readonly journal: JournalWriter<Input>;
  private readonly steps: readonly StepDefinition<Input>[];
  /** The running step; undefined between two steps. */
  private current: StepDefinition<Input> | undefined;
  private canceling: Promise<void> | undefined;

  constructor(
    private readonly definition: TaskDefinition<Input>,
    private readonly task: RunningTask,
    journal: TaskJournal<Input>,
    private readonly deps: RunDeps,
  ) {
    this.journal = new JournalWriter(task, journal, deps.clock);
    this.steps = definition.steps(journal.input);
    expectUniqueNames(this.steps);
  }

  /** @param isRecovered whether an earlier process began the task */
  async run(isRecovered: boolean): Promise<RunOutcome> {
    try {
      if (isRecovered) await this.recover();
      for (const step of this.steps) if (!this.find(step.name)?.isFinished) await this.runStep(step);
      this.task.signal.throwIfAborted();
    } catch (error) {
      // A failure of this moment may be one of the shutdown. The journal has all that the next start needs.
      if (this.task.shutdownSignal.aborted && this.isRecoverable) return 'suspended';
      return this.rollBack(this.task.signal.aborted ? this.task.signal.reason : error);
    }
    await this.task.end(undefined, this.definition.result && json(this.definition.result(this.journal.current)));
    return 'ended';
  }

  /** @throws DomainError WRONG_STATE when the task can't be canceled now */
  async cancel({ login }: Caller): Promise<void> {
    const { task, canceledBy, rollback } = this.journal.current;
    if (canceledBy !== undefined) return;
    if (this.canceling) return this.canceling;
    if (rollback) throw new DomainError('WRONG_STATE', `The task ${task} is already being rolled back.`);
    if (!this.isCancelable) throw notCancelable(task, this.current?.name);
    this.canceling = this.journal
      .write((journal) => ({ ...journal, canceledBy: login }))
      .finally(() => {
        this.canceling = undefined;
      });
    await this.canceling;
    this.task.update({ canceledBy: login, cancelable: false });
    this.task.log(`Canceled by ${nameOf(login)}.`);
    const { current } = this;
    this.deps.clock.after(CANCEL_NOTICE_MS, () => {
      if (current && current === this.current)
        this.task.log(
          `"${current.name}" has not stopped yet. The task is rolled back when it has, or after a restart.`,
        );
    });
    this.task.cancel(canceled(login));
  }

  private get isRecoverable(): boolean {
    return this.definition.resume !== undefined || this.definition.rollback !== undefined;
  }

  private get isCancelable(): boolean {
    return this.current ? this.current.isCancelable === true : this.journal.current.steps.length === 0;
  }

  private find(name: string): JournaledStep | undefined {
    return this.journal.current.steps.find((step) => step.name === name);
  }

  /** Decides how the task continues that an earlier process began. @throws the reason for a rollback */
  private async recover(): Promise<void> {
    const { current } = this.journal;
    const { rollback, canceledBy, isLimited, steps } = current;
    if (rollback) throw new Error(rollback.error);
    if (canceledBy !== undefined) throw canceled(canceledBy);
    if (isLimited) {
      this.task.log(RIGHTS_UNKNOWN);
      throw new Error(INTERRUPTED);
    }
    const last = steps.at(-1);
    const interrupted = last && !last.isFinished ? last : undefined;
    const { resume } = this.definition;
    if (!resume) throw new Error(INTERRUPTED);
    if (interrupted && interrupted.attempts >= MAX_ATTEMPTS)
      throw new Error(`${INTERRUPTED}: "${interrupted.name}" was interrupted ${interrupted.attempts} times`);
    const context = this.contextOf(this.task.shutdownSignal);
    const decision = await retryWhileAway(this.deps.clock, context, () =>
      resume.call(this.definition, current, context),
    ).finally(context.close);
    if (decision.action === 'rollback') throw new Error(decision.reason ?? INTERRUPTED);
    this.task.log(interrupted ? `Resumed after a restart at "${interrupted.name}".` : 'Resumed after a restart.');
    if (interrupted && decision.action === 'finished') await this.finish(interrupted.name, decision.result);
  }

  private async runStep(step: StepDefinition<Input>): Promise<void> {
    const { signal } = this.task;
    signal.throwIfAborted();
    const known = this.find(step.name);
    const params = known?.params ?? json((await step.params?.(this.journal.current)) ?? {});
    signal.throwIfAborted();
    const attempt = (known?.attempts ?? 0) + 1;
    this.task.beginStep(step.name);
    await this.journal.commit((journal) => {
      const begun: JournaledStep = { ...known, name: step.name, params, attempts: attempt, isFinished: false };
      return { ...journal, steps: [...journal.steps.filter(({ name }) => name !== step.name), begun] };
    });
    // It may have been canceled while the store could not be written.
    signal.throwIfAborted();
    this.current = step;
    this.task.update({ cancelable: step.isCancelable === true });
    const context = this.stepContext(step, params, attempt, known?.checkpoint);
    const result = await Promise.resolve()
      .then(() => step.run(context))
      .finally(() => {
        context.close();
        this.current = undefined;
      });
    await this.finish(step.name, result);
    this.reportFraction(step, 1);
  }

  private async finish(name: string, result: unknown): Promise<void> {
    const value = result === undefined ? undefined : json(result);
    await this.journal.commit((journal) => ({
      ...journal,
      steps: journal.steps.map((step) =>
        step.name === name ? { ...step, isFinished: true, result: value, checkpoint: undefined } : step,
      ),
    }));
  }

  private async rollBack(reason: unknown): Promise<RunOutcome> {
    const { task, journal, definition } = this;
    const error = messageOf(reason);
    task.update({ cancelable: false });
    const { steps, rollback } = journal.current;
    if (steps.length === 0) return this.end(error);
    const { rollback: undo } = definition;
    if (!undo) {
      const last = steps.at(-1);
      if (last && !last.isFinished) task.log(`"${last.name}" had begun; it may have done a part of its work.`);
      return this.end(error);
    }
    const attempts = (rollback?.attempts ?? 0) + 1;
    if (attempts > MAX_ATTEMPTS) return this.end(`${error} The rollback was interrupted ${MAX_ATTEMPTS} times.`);
    const context = this.contextOf(task.shutdownSignal);
    try {
      if (task.shutdownSignal.aborted) return 'suspended';
      task.beginStep(ROLLBACK);
      await journal.commit((current) => ({ ...current, rollback: { error, attempts } }));
      task.log(`Rolling back: ${error}`);
      await retryWhileAway(this.deps.clock, context, () => undo.call(definition, journal.current, context));
      task.log('Rolled back.');
      return await this.end(error);
    } catch (failure) {
      if (task.shutdownSignal.aborted) return 'suspended';
      return await this.end(`${error} The rollback failed: ${messageOf(failure)}`);
    } finally {
      context.close();
    }
  }

  private async end(error: string): Promise<RunOutcome> {
    await this.task.end(error);
    return 'ended';
  }

  private contextOf(signal: AbortSignal): TaskContext & { close: () => void } {
    const { task } = this;
    const { caller, task: id } = this.journal.current;
    // A step may have left something running that still reports.
    let isOpen = true;
    return {
      task: id,
      caller,
      signal,
      log: (text) => void (isOpen && task.log(text)),
      mask: (secret) => task.mask(secret),
      progress: (fraction) => void (isOpen && task.progress(fraction)),
      bytes: (doneBytes, totalBytes) => void (isOpen && task.bytes(doneBytes, totalBytes)),
      close: () => {
        isOpen = false;
      },
    };
  }

  private stepContext(
    step: StepDefinition<Input>,
    params: object,
    attempt: number,
    checkpoint: unknown,
  ): StepContext<Input> & { close: () => void } {
    const context = this.contextOf(this.task.signal);
    const progress = (fraction: number): void => {
      if (this.current === step) this.reportFraction(step, fraction);
    };
    return {
      ...context,
      input: this.journal.current.input,
      params,
      attempt,
      checkpoint,
      progress,
      bytes: (doneBytes, totalBytes) => {
        context.bytes(doneBytes, totalBytes);
        if (totalBytes) progress(doneBytes / totalBytes);
      },
      saveCheckpoint: async (value) => {
        if (this.current !== step) return false;
        const saved = json(value);
        return this.journal.tryWrite((journal) => ({
          ...journal,
          steps: journal.steps.map((one) => (one.name === step.name ? { ...one, checkpoint: saved } : one)),
        }));
      },
      result: <T>(name: string): T => {
        const found = this.find(name);
        if (!found?.isFinished) throw new Error(`The step "${name}" is not finished.`);
        return found.result as T;
      },
    };
  }

  /** The progress of the task from that of its current step. */
  private reportFraction(step: StepDefinition<Input>, fraction: number): void {
    if (!Number.isFinite(fraction)) return;
    const weightOf = ({ weight = 1 }: StepDefinition<Input>): number => weight;
    const sum = (steps: readonly StepDefinition<Input>[]): number => steps.reduce((all, one) => all + weightOf(one), 0);
    const before = sum(this.steps.slice(0, this.steps.indexOf(step)));
    this.task.progress((before + weightOf(step) * Math.min(1, Math.max(0, fraction))) / sum(this.steps));
  }
}

/** What a restart would leave of the value, so that a step sees the same before and after one. */
export const json = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

export const nameOf = (login: string): string => login || 'the user';

export const canceled = (login: string): DomainError => new DomainError('CONFLICT', `Canceled by ${nameOf(login)}.`);

export const notCancelable = (id: string, step?: string): DomainError =>
  new DomainError(
    'WRONG_STATE',
    step === undefined
      ? `The task ${id} can't be canceled at the moment.`
      : `The task ${id} can't be canceled during "${step}", which must not be interrupted.`,
  );

function expectUniqueNames(steps: readonly StepDefinition<never>[]): void {
  const names = new Set(steps.map(({ name }) => name));
  if (names.size < steps.length || names.has(ROLLBACK))
    throw new Error('Steps must have different names, none rollback.');
}
