import {
  ADMINISTRATOR,
  SILENT_LOG,
  SingleReplica,
  type Caller,
  type StepContext,
  type TaskDefinition,
  type TaskJournal,
} from '@headgate/domain-contracts';
import { FixedClock, MemoryTaskStore } from '@headgate/testing';
import { TaskBoard } from '../task-board.js';
import { PastTimes } from '../times/past-times.js';

export interface CopyInput {
  readonly disk: string;
}

export const PATIENCE = { stallMs: 60_000, waitsFor: 'the engine', ifStalled: 'The engine may still copy.' };

export type Step = (context: StepContext<CopyInput>) => Promise<unknown>;
export type Steps = Partial<Record<'prepare' | 'copy' | 'switch', Step>>;

export const ann: Caller = { login: 'ann', name: 'Ann', grant: ADMINISTRATOR };
export const bob: Caller = { login: 'bob', name: 'Bob', grant: ADMINISTRATOR };
export const copy = { name: 'web', ref: 'vm/lab/local/web', input: { disk: 'root' } };

const nothing: Step = async () => undefined;
export const never: Step = () => new Promise(() => undefined);
export const untilAborted: Step = ({ signal }) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

export const namesOf = ({ steps }: TaskJournal): string[] =>
  steps.map(({ name, isFinished }) => `${name} ${isFinished}`);

/**
 * A kind of task of the steps `prepare`, `copy`, which can be canceled, and `switch`, over a store that survives its
 * boards.
 */
export class CopyTasks {
  readonly store = new MemoryTaskStore();
  readonly clock = new FixedClock();
  times = new PastTimes(this.clock);

  open(steps: Steps, more: object = {}): { board: TaskBoard; start: () => Promise<string> } {
    const board = new TaskBoard(this.store, this.clock, SILENT_LOG, new SingleReplica(), undefined, this.times);
    const definition: TaskDefinition<CopyInput> = {
      kind: 'move',
      steps: () => [
        { name: 'prepare', ...PATIENCE, run: steps.prepare ?? nothing },
        {
          name: 'copy',
          ...PATIENCE,
          waitsFor: 'the copy of the disk',
          isCancelable: true,
          weight: 8,
          params: ({ input }) => ({ to: `${input.disk}-copy` }),
          run: steps.copy ?? nothing,
        },
        { name: 'switch', ...PATIENCE, run: steps.switch ?? nothing },
      ],
      ...more,
    };
    const moves = board.define(definition);
    return { board, start: () => moves.start(copy, ann) };
  }

  /** A restart after a kill: the promises of the first process never settle, and the store keeps what it wrote. */
  async restart(steps: Steps, more: object = {}): Promise<TaskBoard> {
    this.times = new PastTimes(this.clock);
    const { board } = this.open(steps, more);
    await board.recover();
    board.resume();
    await this.settled();
    return board;
  }

  async settled(): Promise<void> {
    for (let turn = 0; turn < 200; turn++) await Promise.resolve();
  }
}
