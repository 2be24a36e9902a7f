import { appendFileSync, readFileSync, writeSync } from 'node:fs';
import { ADMINISTRATOR, SystemClock, type Task, type TaskJournal } from '@headgate/domain-contracts';
import { RegistryDatabase, SqliteTaskStore } from '@headgate/registry-store';
import { TaskBoard } from '@headgate/tasks';

// crash.stress.spec.ts runs this in a process of its own, which kills itself with SIGKILL before or after a write to
// the store. Without `killAt`, it prints the number of writes and the ended tasks.
//   task-process DATABASE EFFECTS MODE start|restart [before:N|after:N]
const [database = '', effects = '', mode = '', phase = '', killAt = ''] = process.argv.slice(2);

/** A scheduled task begins so much later. */
const DELAY_MS = 1_500;

const caller = { login: 'ann', name: 'Ann', grant: ADMINISTRATOR };
const readEffects = (): string[] => readFileSync(effects, 'utf8').split('\n').filter(Boolean);
/** The change that a step makes in the world, which survives the process. */
const act = (name: string): void => appendFileSync(effects, `${name}\n`);

class KillingStore extends SqliteTaskStore {
  writes = 0;

  override async put(task: Task, journal?: TaskJournal): Promise<void> {
    this.writes++;
    this.killAt('before');
    await super.put(task, journal);
    this.killAt('after');
  }

  private killAt(moment: string): void {
    if (killAt === `${moment}:${this.writes}`) process.kill(process.pid, 'SIGKILL');
  }
}

/** Only the steps write, so that each run has the same writes. */
class ClockWithoutTimers extends SystemClock {
  override after(): () => void {
    return () => undefined;
  }
}

const PATIENCE = { stallMs: 60_000, waitsFor: 'the effect', ifStalled: 'It may still come.' };
const step = (name: string) => ({ name, ...PATIENCE, run: async () => act(name) });
const steps = () => [step('create'), step('copy'), step('switch')];

const registry = new RegistryDatabase(database).open();
const store = new KillingStore(registry);
const clock = mode === 'scheduled' ? new SystemClock() : new ClockWithoutTimers();
const board = new TaskBoard(store, clock);
board.defineBulk(async (_order, { name }) => void act(name));
const moves = board.define({
  kind: 'move',
  steps,
  ...(mode === 'resume'
    ? {
        resume: async ({ steps: begun }: TaskJournal) => {
          const last = begun.at(-1);
          const isDone = last !== undefined && !last.isFinished && readEffects().includes(last.name);
          return isDone ? ({ action: 'finished' } as const) : ({ action: 'continue' } as const);
        },
      }
    : {}),
  ...(mode === 'rollback'
    ? {
        rollback: async ({ steps: begun }: TaskJournal) => {
          for (const { name } of begun.toReversed())
            if (readEffects().includes(name) && !readEffects().includes(`undo ${name}`)) act(`undo ${name}`);
        },
      }
    : {}),
});

if (phase === 'start') {
  if (mode === 'bulk' || mode === 'scheduled') {
    const refs = Array.from({ length: 10 }, (_none, index) => `vm/lab/local/v${index}`);
    const at = new Date(clock.now() + DELAY_MS).toISOString();
    await board.startBulk({ action: 'start', ...(mode === 'scheduled' && { at }) }, refs, caller);
  } else {
    await moves.start({ name: 'web', ref: 'vm/lab/local/web', input: {} }, caller);
  }
} else {
  await board.recover();
  board.resume();
}

const end = (): void => {
  if (store.running().length > 0) return void setImmediate(end);
  const tasks = store.recent(10).map(({ id }) => store.get(id));
  registry.close();
  // Written before the process exits, also into a pipe.
  writeSync(1, JSON.stringify({ writes: store.writes, tasks }));
  process.exit();
};
end();
