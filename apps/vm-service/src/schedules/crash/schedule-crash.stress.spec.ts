import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Schedule, ScheduledRun, Task } from '@headgate/domain-contracts';
import { NodeProgram } from '@headgate/testing';

const TIMEOUT_MS = 300_000;
const MINUTE_MS = 60_000;

interface Outcome {
  readonly writes: number;
  readonly runs: readonly ScheduledRun[];
  readonly tasks: readonly Task[];
}

describe('a schedule whose process is killed', () => {
  let program: NodeProgram;
  let count = 0;

  beforeAll(async () => {
    program = await NodeProgram.build(join(import.meta.dirname, 'schedule-process.ts'));
  }, TIMEOUT_MS);

  afterAll(() => program?.close());

  /** A registry with a schedule whose only time of the year is this minute. */
  const openWorld = () => {
    const base = join(program.folder, `world-${count++}`);
    writeFileSync(`${base}.effects`, '');
    const minute = new Date(Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS);
    const before = new Date(minute.getTime() - 1).toISOString();
    const schedule: Schedule = {
      owner: 'ann',
      id: 'night',
      name: 'Night',
      enabled: true,
      cron: `${minute.getUTCMinutes()} ${minute.getUTCHours()} ${minute.getUTCDate()} ${minute.getUTCMonth() + 1} *`,
      timeZone: 'UTC',
      jitterSeconds: 0,
      // However busy the machine is.
      missed: 'once',
      job: { kind: 'bulk', params: {} },
      createdAt: before,
      changedAt: before,
      after: before,
      runs: [],
    };
    const call = (killAt: string): Promise<string> =>
      program.run(`${base}.db`, `${base}.effects`, JSON.stringify(schedule), killAt);
    return {
      planned: minute.toISOString(),
      effects: (): string[] => readFileSync(`${base}.effects`, 'utf8').split('\n').filter(Boolean),
      complete: async (): Promise<Outcome> => JSON.parse(await call('')) as Outcome,
      kill: (killAt: string) => expect(call(killAt)).rejects.toMatchObject({ signal: 'SIGKILL' }),
    };
  };

  test(
    'runs its planned time exactly once, whatever was written before',
    async () => {
      const first = openWorld();
      const { writes, runs, tasks } = await first.complete();
      expect([runs, tasks.length, first.effects()]).toMatchObject([
        [{ planned: first.planned, status: 'done', task: tasks[0]?.id }],
        1,
        ['a', 'b', 'c'],
      ]);
      // Its record, its task with three members, and what has become of them.
      expect(writes).toBeGreaterThanOrEqual(6);
      for (let write = 1; write <= writes; write++)
        for (const moment of [`before:${write}`, `after:${write}`]) {
          const world = openWorld();
          await world.kill(moment);
          const found = await world.complete();
          const [task] = found.tasks;
          expect([moment, found.tasks.length, found.runs]).toMatchObject([
            moment,
            1,
            [{ planned: world.planned, task: task?.id, status: task?.status }],
          ]);
          // A member that had begun may have been carried out, and is not repeated.
          const done = world.effects();
          expect([moment, new Set(done).size]).toEqual([moment, done.length]);
          const unsure = task?.members?.filter(({ status }) => status === 'error') ?? [];
          expect([moment, done.length + unsure.length >= 3]).toEqual([moment, true]);
        }
    },
    TIMEOUT_MS,
  );
});
