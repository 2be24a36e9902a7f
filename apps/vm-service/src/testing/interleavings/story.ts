import type { Task } from '@headgate/domain-contracts';
import type { OperationRequest } from '@headgate/testing';
import { clusterState, type ListEntry } from '../cluster-state.js';
import { describeOutcome, isDone, type Answer, type Outcome } from './outcome.js';
import { NAMESPACE, requestOf, type Sent } from './story-requests.js';
import { answerViolations, existenceViolations, keptViolations } from './violations.js';

/** The service under test, and the cluster that it manages. */
export interface StoryWorld {
  readonly store: Parameters<typeof clusterState>[0];
  /** The callers that use different processes of the service. */
  readonly callers: readonly number[];
  /** Whether processes are killed, so that requests may get no response. */
  readonly isKilled: boolean;
  send(caller: number, request: OperationRequest): Promise<Answer>;
  /** Waits until the condition holds. @throws Error with the explanation when that takes far too long */
  until(holds: () => Promise<boolean>, explain: () => string): Promise<void>;
}

export interface Tally {
  acknowledged: number;
  refused: number;
  unanswered: number;
}

/** Several callers change two VMs at the same time; afterwards, everything that was acknowledged must be true. */
export class Story {
  private readonly outcomes: Outcome[] = [];
  private readonly callers: Promise<unknown>[] = [];
  private moments = 0;

  constructor(
    private readonly world: StoryWorld,
    /** No other object contains it. */
    readonly prefix: string,
    /** Whether the VM 0 runs at the beginning. */
    private readonly ran: boolean,
  ) {}

  readonly name = (vm: 0 | 1): string => `${this.prefix}-${vm === 0 ? 'a' : 'b'}`;

  /** A caller sends one request after the other, and waits for no other caller. */
  send(sent: Sent): void {
    const outcome: Outcome = { ...sent, index: this.outcomes.length, answer: undefined, sentAt: 0, answeredAt: 0 };
    this.outcomes.push(outcome);
    const before = this.callers[sent.caller] ?? Promise.resolve();
    this.callers[sent.caller] = before.then(async () => {
      outcome.sentAt = ++this.moments;
      outcome.answer = await this.world.send(sent.caller, requestOf(outcome, this.name));
      outcome.answeredAt = ++this.moments;
    });
  }

  /** Waits until everything has ended, and checks it. @returns the violated promises */
  async check(): Promise<string[]> {
    await Promise.all(this.callers);
    let unrest: string[] = [];
    const isAtRest = async (): Promise<boolean> => (unrest = await this.unrest()).length === 0;
    await this.world.until(isAtRest, () => `${this.prefix} is not at rest: ${unrest.join(', ')}`);
    await this.readTasks();
    const { outcomes, name: nameOf, ran } = this;
    const end = { outcomes, nameOf, ran, ...this.state() };
    return [...answerViolations(end, this.world.isKilled), ...existenceViolations(end), ...keptViolations(end)];
  }

  /** Deletes the VMs, and waits until none of their objects is left. */
  async end(): Promise<void> {
    for (const vm of [0, 1] as const) {
      const isThere = (): boolean => this.state().machines.some(({ metadata }) => metadata.name === this.name(vm));
      await this.world.until(
        async () => {
          if (!isThere()) return true;
          await this.world.send(0, { method: 'DELETE', path: `/api/vms/${NAMESPACE}/${this.name(vm)}` });
          return false;
        },
        () => `${this.name(vm)} was not deleted`,
      );
    }
    const left = (): string[] => this.state().objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    await this.world.until(
      async () => left().length === 0,
      () => `left over: ${left().join(', ')}`,
    );
  }

  /** How many requests were acknowledged, refused, and got no response. */
  get tally(): Tally {
    const count = (done: boolean | undefined): number => this.outcomes.filter((one) => isDone(one) === done).length;
    return { acknowledged: count(true), refused: count(false), unanswered: count(undefined) };
  }

  /** The requests with their answers, to read a failure. */
  toString(): string {
    return this.outcomes.map(describeOutcome).join('\n');
  }

  private state() {
    return clusterState(this.world.store, this.prefix, 'lab');
  }

  /** The tasks that run, and how the lists of the processes differ from the cluster. */
  private async unrest(): Promise<string[]> {
    const found = await Promise.all(this.world.callers.map((caller) => this.unrestSeenBy(caller)));
    return found.flat();
  }

  private async unrestSeenBy(caller: number): Promise<string[]> {
    const [list, tasks] = await Promise.all([
      this.world.send(caller, { method: 'GET', path: '/api/vms' }),
      this.world.send(caller, { method: 'GET', path: '/api/tasks' }),
    ]);
    if (list?.status !== 200 || tasks?.status !== 200) return ['the service does not answer'];
    const running = (tasks.json as unknown as Task[]).filter(
      ({ status, ref }) => status === 'running' && ref.includes(this.prefix),
    );
    const entries = list.json as unknown as ListEntry[];
    const found = [...running.map(({ id }) => `${id} runs`), ...this.state().differences(entries)];
    return found.map((text) => `${text}, seen by ${caller}`);
  }

  private async readTasks(): Promise<void> {
    for (const one of this.outcomes) {
      const id = (one.answer?.status ?? 500) < 300 ? one.answer?.json['task'] : undefined;
      if (typeof id !== 'string') continue;
      // Every process knows every task.
      for (const caller of this.world.callers) {
        const answer = await this.world.send(caller, { method: 'GET', path: `/api/tasks/${id}` });
        one.task = answer?.status === 200 ? (answer.json as unknown as Task) : undefined;
        if (one.task?.status !== 'done') break;
      }
    }
  }
}
