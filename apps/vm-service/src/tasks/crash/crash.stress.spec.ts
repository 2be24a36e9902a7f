import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Task } from '@headgate/domain-contracts';
import { INTERRUPTED } from '@headgate/tasks';
import { NodeProgram } from '@headgate/testing';

const STEPS = ['create', 'copy', 'switch'];
const MEMBERS = Array.from({ length: 10 }, (_none, index) => `v${index}`);
/** Two processes run for each moment. */
const TIMEOUT_MS = 600_000;

interface Outcome {
  readonly writes: number;
  readonly tasks: readonly Task[];
  /** In the order in which they happened. */
  readonly effects: readonly string[];
}

type Mode = 'plain' | 'resume' | 'rollback' | 'bulk' | 'scheduled';

describe('tasks of a process that is killed', () => {
  let program: NodeProgram;
  let count = 0;

  beforeAll(async () => {
    program = await NodeProgram.build(join(import.meta.dirname, 'task-process.ts'));
  }, TIMEOUT_MS);

  afterAll(() => program?.close());

  /** A new registry, on which processes run one after the other. */
  const openWorld = (mode: Mode) => {
    const base = join(program.folder, `world-${count++}`);
    writeFileSync(`${base}.effects`, '');
    const effects = (): string[] => readFileSync(`${base}.effects`, 'utf8').split('\n').filter(Boolean);
    const call = (phase: string, killAt: string): Promise<string> =>
      program.run(`${base}.db`, `${base}.effects`, mode, phase, killAt);
    return {
      effects,
      complete: async (phase: string): Promise<Outcome> => ({
        ...(JSON.parse(await call(phase, '')) as Outcome),
        effects: effects(),
      }),
      kill: (phase: string, killAt: string) => expect(call(phase, killAt)).rejects.toMatchObject({ signal: 'SIGKILL' }),
    };
  };

  /**
   * Kills a process before and after each write of the store, two at a time, and passes the outcome of the next start.
   */
  const atEachWrite = async (
    mode: Mode,
    check: (outcome: Outcome, killAt: string, before: readonly string[]) => void,
  ): Promise<void> => {
    const { writes } = await openWorld(mode).complete('start');
    expect(writes).toBeGreaterThan(2);
    const moments = Array.from({ length: writes }, (_none, index) => [
      `before:${index + 1}`,
      `after:${index + 1}`,
    ]).flat();
    const worker = async (): Promise<void> => {
      for (let killAt = moments.shift(); killAt !== undefined; killAt = moments.shift()) {
        const world = openWorld(mode);
        await world.kill('start', killAt);
        const before = world.effects();
        check(await world.complete('restart'), killAt, before);
      }
    };
    await Promise.all([worker(), worker()]);
  };

  /** Fails unless the task is there as soon as it was journaled. */
  const theTask = ({ tasks }: Outcome, killAt: string): Task | undefined => {
    expect([killAt, tasks.length]).toEqual([killAt, killAt === 'before:1' ? 0 : 1]);
    return tasks[0];
  };

  test(
    'are resumed at each journal step, and run no step twice',
    () =>
      atEachWrite('resume', (outcome, killAt) => {
        const task = theTask(outcome, killAt);
        expect([killAt, task?.status, outcome.effects]).toEqual([killAt, task ? 'done' : undefined, task ? STEPS : []]);
      }),
    TIMEOUT_MS,
  );

  test(
    'are rolled back at each journal step, and run no further step',
    () =>
      atEachWrite('rollback', (outcome, killAt, before) => {
        const task = theTask(outcome, killAt);
        if (!task || task.status === 'done') return expect(outcome.effects).toEqual(before);
        const undone = before.toReversed().map((name) => `undo ${name}`);
        expect([killAt, task.error, outcome.effects]).toEqual([killAt, INTERRUPTED, [...before, ...undone]]);
      }),
    TIMEOUT_MS,
  );

  test(
    'end as interrupted if they can neither be resumed nor rolled back, and run no further step',
    () =>
      atEachWrite('plain', (outcome, killAt, before) => {
        const task = theTask(outcome, killAt);
        expect(outcome.effects).toEqual(before);
        if (task && task.status !== 'done') expect([killAt, task.error]).toEqual([killAt, INTERRUPTED]);
      }),
    TIMEOUT_MS,
  );

  test(
    'finish a rollback that was killed too, and undo each step once',
    async () => {
      for (const moment of ['after:1', 'before:2', 'after:2']) {
        const world = openWorld('rollback');
        await world.kill('start', 'before:5');
        await world.kill('restart', moment);
        const { tasks, effects } = await world.complete('restart');
        expect([moment, tasks[0]?.error, effects]).toEqual([
          moment,
          INTERRUPTED,
          ['create', 'copy', 'undo copy', 'undo create'],
        ]);
        expect(tasks[0]?.status).toBe('error');
      }
    },
    TIMEOUT_MS,
  );

  test(
    'begin at their time, once, if they were killed while they waited for it',
    async () => {
      for (const killAt of ['after:1', 'before:2', 'after:2']) {
        const world = openWorld('scheduled');
        await world.kill('start', killAt);
        expect([killAt, world.effects()]).toEqual([killAt, []]);
        const { tasks, effects } = await world.complete('restart');
        expect([killAt, tasks[0]?.status, effects]).toEqual([killAt, 'done', MEMBERS]);
        const { at = '' } = tasks[0]?.bulk ?? {};
        expect(Date.parse(tasks[0]?.finishedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(at));
      }
    },
    TIMEOUT_MS,
  );

  test(
    'carry out each member of a bulk task once at most, and those that had not begun in any case',
    () =>
      atEachWrite('bulk', (outcome, killAt, before) => {
        const task = theTask(outcome, killAt);
        if (!task) return expect(outcome.effects).toEqual([]);
        expect([killAt, outcome.effects.length]).toEqual([killAt, new Set(outcome.effects).size]);
        expect(task.members?.map(({ ref }) => ref.split('/')[3])).toEqual(MEMBERS);
        for (const { ref, status, error } of task.members ?? []) {
          const name = ref.split('/')[3] ?? '';
          if (status === 'error') expect(error).toMatch(/may have been carried out/);
          else expect([killAt, name, status, outcome.effects.includes(name)]).toEqual([killAt, name, 'done', true]);
          // No member that an earlier process may have carried out is tried again.
          if (before.includes(name)) expect(outcome.effects.filter((one) => one === name)).toHaveLength(1);
        }
      }),
    TIMEOUT_MS,
  );
});
