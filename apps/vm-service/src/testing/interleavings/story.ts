import type { OperationRequest } from '@headgate/testing';
import { describeOutcome, isDone, type Answer, type Outcome } from './outcome.js';
import { folderOf, requestOf, type Sent } from './story-requests.js';
import { settle, stateIn, taskSeenBy, type StoryWorld } from './story-world.js';
import {
  answerViolations,
  existenceViolations,
  folderViolations,
  keptViolations,
  type StoryEnd,
  type StoryFolder,
} from './violations.js';

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

  /** Creates the folder of the story. */
  async open(): Promise<void> {
    await this.send200({ method: 'POST', path: '/api/folders', body: { path: this.folder } });
  }

  /** Removes the folder, in which no VM is left. */
  async close(): Promise<void> {
    await this.send200({ method: 'DELETE', path: `/api/folders?path=${this.folder}` });
  }

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
    const { world, outcomes, name: nameOf, ran } = this;
    await settle(world, this.prefix);
    await this.readTasks();
    const folder = await this.readFolder();
    const end: StoryEnd = { outcomes, nameOf, ran, folder, ...stateIn(world.clusters[0]!, this.prefix) };
    return [
      ...answerViolations(end, world.isKilled),
      ...existenceViolations(end),
      ...keptViolations(end),
      ...folderViolations(end),
    ];
  }

  /** How many requests were acknowledged, refused, and got no response. */
  tally(): Tally {
    const count = (done: boolean | undefined): number => this.outcomes.filter((one) => isDone(one) === done).length;
    return { acknowledged: count(true), refused: count(false), unanswered: count(undefined) };
  }

  /** The requests with their answers, to read a failure. */
  toString(): string {
    return this.outcomes.map(describeOutcome).join('\n');
  }

  private get folder(): string {
    return folderOf(this.name);
  }

  /** Until it is answered: a folder may have been created or removed by a request that got no response. */
  private async send200(request: OperationRequest): Promise<void> {
    let answer: Answer;
    await this.world.until(
      async () => (answer = await this.world.send(0, request)) !== undefined,
      () => `${request.method} ${request.path} is not answered`,
    );
    if (![200, 404, 409].includes(answer!.status)) throw new Error(`${request.path}: ${JSON.stringify(answer)}`);
  }

  /** The folder, once all processes show the same. */
  private async readFolder(): Promise<StoryFolder> {
    let seen: string[] = [];
    const read = async (caller: number): Promise<string> => {
      const answer = await this.world.send(caller, { method: 'GET', path: '/api/folders' });
      const { folders } = answer?.json as unknown as { folders: readonly (StoryFolder & { readonly path: string })[] };
      const folder = folders.find(({ path }) => path === this.folder);
      return JSON.stringify({ members: folder?.members.map(({ ref }) => ({ ref })), missing: folder?.missing });
    };
    await this.world.until(
      async () => {
        seen = await Promise.all(this.world.callers.map(read));
        return seen.every((text) => text === seen[0]);
      },
      () => `the processes do not agree about the folder: ${seen.join(', ')}`,
    );
    return JSON.parse(seen[0]!) as StoryFolder;
  }

  private async readTasks(): Promise<void> {
    for (const one of this.outcomes) {
      const id = (one.answer?.status ?? 500) < 300 ? one.answer?.json['task'] : undefined;
      if (typeof id !== 'string') continue;
      // Every process knows every task.
      for (const caller of this.world.callers) {
        one.task = await taskSeenBy(this.world, caller, id);
        if (one.task.status !== 'done') break;
      }
    }
  }
}
