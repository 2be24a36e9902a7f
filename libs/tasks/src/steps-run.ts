import {
  DomainError,
  messageOf,
  retryWhileUnreachable,
  AWAY_LIMIT_MS,
  type Author,
  type JournaledStep,
  type Patience,
  type StepContext,
  type StepDefinition,
  type TaskContext,
  type TaskDefinition,
} from '@headgate/domain-contracts';
import type { JournaledRun, RunOutcome } from './journaled-kind.js';
import { JournalWriter } from './journal-writer.js';
import type { LiveJournal } from './live-journal.js';
import { INTERRUPTED, type RunDeps, type RunningTask } from './running-task.js';
import { explainStalled, Stalled, watch, type Observe } from './watchdog.js';

/** A step or rollback that interrupted the service this often is not tried again: it may be the reason. */
const MAX_ATTEMPTS = 5;
/** After this time, the log says that a canceled step has not ended. */
const CANCEL_NOTICE_MS = 30_000;
const ROLLBACK = 'rollback';
const RESUME = 'resume';
/** Longer than they wait for a backend that is away. */
const RECOVERY_PATIENCE: Patience = {
  stallMs: AWAY_LIMIT_MS + 30 * 60_000,
  waitsFor: 'the backend',
  ifStalled: 'It may have left a part of its work.',
};
/** Continuing with more rights than the caller has now would be wrong. */
export const RIGHTS_UNKNOWN = 'Not continued: the rights of its caller are limited, and not kept over a restart.';

/** Runs the steps of a defined task, resumes them after a restart, and rolls them back. */
export class StepsRun<Input extends object = object> implements JournaledRun {
  private readonly journal: JournalWriter<Input>;
  private readonly steps: readonly StepDefinition<Input>[];
  /** The running step; undefined between two steps. */
  private current: StepDefinition<Input> | undefined;
  private canceling: Promise<void> | undefined;
  /** Why the running step can't be undone any more. */
  private commitment: string | undefined;
  private endCancelNotice = (): void => undefined;

  constructor(
    private readonly definition: TaskDefinition<Input>,
    private readonly task: RunningTask,
    journal: LiveJournal<Input>,
    private readonly deps: RunDeps,
  ) {
    this.journal = new JournalWriter(task, journal, deps.clock);
    this.steps = definition.steps(journal.input);
    expectUniqueNames(this.steps);
  }

  async run(isRecovered: boolean): Promise<RunOutcome> {
    try {
      if (isRecovered) await this.recover();
      for (const step of this.steps) if (!this.find(step.name)?.isFinished) await this.runStep(step);
      this.task.signal.throwIfAborted();
    } catch (error) {
      // A failure of this moment may be one of the shutdown. The journal has all that the next start needs.
      if (this.task.shutdownSignal.aborted && this.isRecoverable) return 'suspended';
      if (error instanceof Stalled && !error.hasStopped) return this.end(error);
      return this.rollBack(this.task.signal.aborted ? this.task.signal.reason : error);
    }
    const result = this.definition.result?.(this.journal.current);
    await this.task.end(undefined, result && json(result));
    return 'ended';
  }

  async cancel({ login }: Author): Promise<void> {
    const { task, canceledBy, rollback } = this.journal.current;
    if (canceledBy !== undefined) return;
    if (this.canceling) return this.canceling;
    if (rollback) throw new DomainError('WRONG_STATE', `The task ${task} is already being rolled back.`);
    if (this.commitment !== undefined) throw committed(task, this.commitment);
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
    if (current)
      this.endCancelNotice = this.deps.clock.after(CANCEL_NOTICE_MS, () =>
        this.task.log(
          `"${current.name}" has not stopped yet. The task is rolled back when it has, or after a restart.`,
        ),
      );
    this.task.cancel(canceled(login));
  }

  private get isRecoverable(): boolean {
    return this.definition.resume !== undefined || this.definition.rollback !== undefined;
  }

  private get isCancelable(): boolean {
    return this.current ? this.current.isCancelable === true : this.journal.current.steps.length === 0;
  }

  private get finishedNames(): string[] {
    return this.journal.current.steps.filter(({ isFinished }) => isFinished).map(({ name }) => name);
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
    const hasLimit = !this.steps.some(({ name, outlivesRestarts }) => name === interrupted?.name && outlivesRestarts);
    if (interrupted && hasLimit && interrupted.attempts >= MAX_ATTEMPTS)
      throw new Error(`${INTERRUPTED}: "${interrupted.name}" was interrupted ${interrupted.attempts} times`);
    const decision = await this.watch(RESUME, RECOVERY_PATIENCE, (observe) => {
      const context = this.contextOf(this.task.shutdownSignal, observe);
      return this.untilBack(context, () => resume.call(this.definition, current, context)).finally(context.close);
    });
    if (decision.action === 'rollback') throw new Error(decision.reason ?? INTERRUPTED);
    this.task.log(interrupted ? `Resumed after a restart at "${interrupted.name}".` : 'Resumed after a restart.');
    if (interrupted && decision.action === 'finished') await this.finish(interrupted.name, decision.result);
  }

  private async runStep(step: StepDefinition<Input>): Promise<void> {
    const { signal } = this.task;
    signal.throwIfAborted();
    const known = this.find(step.name);
    const params = known?.params ?? (await this.paramsOf(step));
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
    this.task.update({ cancelable: step.isCancelable === true, waitsFor: step.waitsFor });
    const result = await this.watch(step.name, step, async (observe) => {
      const context = this.stepContext(step, { params, attempt, checkpoint: known?.checkpoint, observe });
      return Promise.resolve(step.run(context)).finally(context.close);
    }).finally(() => {
      this.current = undefined;
      this.endCancelNotice();
    });
    await this.finish(step.name, result);
    this.commitment = undefined;
    this.task.update({ waitsFor: undefined, cancelRefusal: undefined });
    this.reportFraction(step, 1);
  }

  /** They are computed before the step is journaled, so that nothing has to be undone. */
  private async paramsOf(step: StepDefinition<Input>): Promise<object> {
    const { params } = step;
    if (!params) return {};
    return json(await this.watch(step.name, step, async () => params.call(step, this.journal.current)));
  }

  private watch<T>(name: string, patience: Patience, work: (observe: Observe) => Promise<T>): Promise<T> {
    const { task } = this;
    return watch({ task, clock: this.deps.clock, name, patience }, work);
  }

  /** Repeats work while a backend is unreachable, and names that as what the task waits for. */
  private untilBack<T>(context: TaskContext, work: () => Promise<T>): Promise<T> {
    return retryWhileUnreachable(this.deps.clock, context, async () => {
      try {
        return await work();
      } catch (error) {
        context.waitsFor(`an answer of the backend: ${messageOf(error)}`);
        throw error;
      }
    });
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
    const end = (more = ''): Promise<RunOutcome> => this.end(reason, more);
    if (steps.length === 0) return end();
    const { rollback: undo } = definition;
    if (!undo) {
      const last = steps.at(-1);
      if (last && !last.isFinished) task.log(`"${last.name}" had begun; it may have done a part of its work.`);
      return end();
    }
    const attempts = (rollback?.attempts ?? 0) + 1;
    if (attempts > MAX_ATTEMPTS) return end(`The rollback was interrupted ${MAX_ATTEMPTS} times.`);
    try {
      if (task.shutdownSignal.aborted) return 'suspended';
      task.beginStep(ROLLBACK);
      await journal.commit((current) => ({ ...current, rollback: { error, attempts } }));
      task.log(`Rolling back: ${error}`);
      await this.watch(ROLLBACK, RECOVERY_PATIENCE, (observe) => {
        const context = this.contextOf(task.shutdownSignal, observe);
        return this.untilBack(context, () => undo.call(definition, journal.current, context)).finally(context.close);
      });
      task.log('Rolled back.');
      return await end();
    } catch (failure) {
      if (task.shutdownSignal.aborted) return 'suspended';
      return await end(`The rollback failed: ${messageOf(failure)}`);
    }
  }

  /** @param more about the rollback */
  private async end(reason: unknown, more = ''): Promise<RunOutcome> {
    const { task, deps } = this;
    const text =
      reason instanceof Stalled
        ? explainStalled(reason, { ref: task.ref, finished: this.finishedNames, more }, deps)
        : [messageOf(reason), more].filter(Boolean).join(' ');
    await task.end(text);
    return 'ended';
  }

  private contextOf(signal: AbortSignal, observe: Observe): TaskContext & { close: () => void } {
    const { task } = this;
    const report = (sort: string, value: unknown, change: () => void): void => {
      if (!isOpen) return;
      observe(sort, value);
      change();
    };
    const { caller, task: id } = this.journal.current;
    // A step may have left something running that still reports.
    let isOpen = true;
    return {
      task: id,
      caller,
      signal,
      log: (text) => report('log', text, () => task.log(text)),
      part: (name) => report('log', name, () => task.part(name)),
      mask: (secret) => task.mask(secret),
      progress: (fraction) => report('progress', fraction, () => task.progress(fraction)),
      bytes: (doneBytes, totalBytes) => report('bytes', doneBytes, () => task.bytes(doneBytes, totalBytes)),
      waitsFor: (subject) => report('waitsFor', subject, () => task.update({ waitsFor: subject })),
      isDelayed: () => task.delay(),
      close: () => {
        isOpen = false;
      },
    };
  }

  private stepContext(
    step: StepDefinition<Input>,
    { params, attempt, checkpoint, observe }: StepState,
  ): StepContext<Input> & { close: () => void } {
    const context = this.contextOf(this.task.signal, observe);
    const progress = (fraction: number): void => {
      if (this.current !== step) return;
      observe('progress', fraction);
      this.reportFraction(step, fraction);
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
        observe('checkpoint', JSON.stringify(saved));
        return this.journal.tryWrite((journal) => ({
          ...journal,
          steps: journal.steps.map((one) => (one.name === step.name ? { ...one, checkpoint: saved } : one)),
        }));
      },
      commit: (reason) => this.commit(step, reason),
      result: <T>(name: string): T => {
        const found = this.find(name);
        if (!found?.isFinished) throw new Error(`The step "${name}" is not finished.`);
        return found.result as T;
      },
    };
  }

  /** A cancellation that is being journaled comes first. */
  private async commit(step: StepDefinition<Input>, reason: string): Promise<void> {
    const { task } = this;
    await this.canceling?.catch(() => undefined);
    task.signal.throwIfAborted();
    if (this.current !== step) throw new Error(`The step "${step.name}" has ended.`);
    this.commitment = reason;
    task.update({ cancelable: false, cancelRefusal: reason });
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

interface StepState {
  readonly params: object;
  readonly attempt: number;
  readonly checkpoint: unknown;
  readonly observe: Observe;
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

export const committed = (id: string, reason: string): DomainError =>
  new DomainError('WRONG_STATE', `The task ${id} can no longer be canceled: ${reason}`);

function expectUniqueNames(steps: readonly StepDefinition<never>[]): void {
  const names = new Set(steps.map(({ name }) => name));
  if (names.size < steps.length || names.has(ROLLBACK))
    throw new Error('Steps must have different names, none rollback.');
}
