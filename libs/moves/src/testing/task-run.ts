import {
  ADMINISTRATOR,
  retryWhileUnreachable,
  type Clock,
  type JournaledStep,
  type StepContext,
  type TaskContext,
  type TaskDefinition,
  type TaskJournal,
} from '@headgate/domain-contracts';

/** Thrown in place of a `kill -9`: nothing of the service runs afterwards. */
export class Killed extends Error {}

/**
 * A point at which the process is killed: before a step does anything, after its work, which is not journaled as
 * finished yet, or before the next step.
 */
export interface KillPoint {
  readonly step: string;
  readonly when: 'before' | 'after' | 'finished';
}

/** Runs one task of a definition, with a journal that survives the process, as the runner of the service does. */
export class TaskRun<Input extends object> {
  readonly log: string[] = [];
  private steps: JournaledStep[] = [];
  private rollbackReason?: string;

  constructor(
    private readonly definition: TaskDefinition<Input>,
    private readonly input: Input,
    private readonly clock: Clock,
    readonly abort = new AbortController(),
  ) {}

  /** @returns the result @throws Error the reason for which it was rolled back */
  async run(kill?: KillPoint): Promise<object> {
    try {
      for (const { name } of this.definition.steps(this.input)) {
        if (this.steps.some((step) => step.name === name && step.isFinished)) continue;
        await this.runStep(name, kill);
      }
      return this.definition.result?.(this.journal) ?? {};
    } catch (error) {
      if (error instanceof Killed) throw error;
      this.rollbackReason = (error as Error).message;
      await this.rollBack();
      throw error;
    }
  }

  /** The same task in another process, which has nothing of this one but its journal. */
  after(definition: TaskDefinition<Input>): TaskRun<Input> {
    const next = new TaskRun(definition, this.input, this.clock);
    next.steps = this.steps;
    next.log.push(...this.log);
    return next;
  }

  /** As after a restart of the service. */
  async restart(): Promise<object> {
    const resumption = await this.retry(async () => this.definition.resume?.(this.journal, this.context));
    if (resumption?.action === 'continue') return this.run();
    const last = this.steps.at(-1);
    if (resumption?.action === 'finished') {
      if (last && !last.isFinished) this.finish(last.name, resumption.result);
      return this.run();
    }
    this.rollbackReason = resumption?.reason ?? 'interrupted by a restart';
    await this.rollBack();
    throw new Error(this.rollbackReason);
  }

  private async rollBack(): Promise<void> {
    await this.retry(async () => this.definition.rollback?.(this.journal, this.context));
  }

  private retry<T>(work: () => Promise<T>): Promise<T> {
    return retryWhileUnreachable(this.clock, this.context, work);
  }

  private async runStep(name: string, kill: KillPoint | undefined): Promise<void> {
    const step = this.definition.steps(this.input).find((one) => one.name === name);
    const begun = this.steps.find((one) => one.name === name);
    const attempts = (begun?.attempts ?? 0) + 1;
    const params = begun?.params ?? (await step?.params?.(this.journal)) ?? {};
    this.steps = [
      ...this.steps.filter((one) => one.name !== name),
      { ...begun, name, params, attempts, isFinished: false },
    ];
    if (kill?.step === name && kill.when === 'before') throw new Killed();
    const context: StepContext<Input> = {
      ...this.context,
      input: this.input,
      params,
      attempt: attempts,
      checkpoint: begun?.checkpoint,
      commit: async () => undefined,
      saveCheckpoint: async (checkpoint) => this.checkpoint(name, checkpoint),
      result: <T>(earlier: string) => this.steps.find((one) => one.name === earlier)?.result as T,
    };
    const result = await step?.run(context);
    if (kill?.step === name && kill.when === 'after') throw new Killed();
    this.finish(name, result);
    if (kill?.step === name && kill.when === 'finished') throw new Killed();
  }

  private checkpoint(name: string, checkpoint: object): boolean {
    const journaled: unknown = JSON.parse(JSON.stringify(checkpoint));
    this.steps = this.steps.map((one) => (one.name === name ? { ...one, checkpoint: journaled } : one));
    return true;
  }

  private finish(name: string, result: unknown): void {
    const journaled: unknown = result === undefined ? undefined : JSON.parse(JSON.stringify(result));
    this.steps = this.steps.map((one) => (one.name === name ? { ...one, isFinished: true, result: journaled } : one));
  }

  private get journal(): TaskJournal<Input> {
    return {
      task: 'move-1',
      version: 1,
      caller: ANN,
      input: this.input,
      steps: this.steps,
      ...(this.rollbackReason !== undefined && { rollback: { error: this.rollbackReason, attempts: 1 } }),
    };
  }

  private get context(): TaskContext {
    return {
      task: 'move-1',
      caller: ANN,
      signal: this.abort.signal,
      log: (line) => void this.log.push(line),
      mask: () => undefined,
      progress: () => undefined,
      bytes: () => undefined,
      waitsFor: () => undefined,
    };
  }
}

const ANN = { login: 'ann', name: 'Ann', grant: ADMINISTRATOR };
