import { appendFileSync, writeSync } from 'node:fs';
import {
  ADMINISTRATOR,
  Audit,
  SILENT_LOG,
  SingleReplica,
  type Schedule,
  type Task,
  type TaskJournal,
} from '@headgate/domain-contracts';
import { RegistryDatabase, SqliteScheduleStore, SqliteTaskStore } from '@headgate/registry-store';
import { JobKinds, Scheduler, type JobKind } from '@headgate/schedules';
import { newTaskId, TaskBoard } from '@headgate/tasks';
import { ClockWithoutTimers } from '../../testing/killing-store.js';
import { NoAuditLog } from '../../testing/no-audit-log.js';

// schedule-crash.stress.spec.ts runs this in a process of its own: a service with one schedule, which kills itself with
// SIGKILL before or after a write to the store. Without `killAt`, it prints its writes, the runs and the tasks when the
// run has ended.
//   schedule-process DATABASE EFFECTS SCHEDULE-AS-JSON [before:N|after:N]
const [database = '', effects = '', given = '', killAt = ''] = process.argv.slice(2);
const schedule = JSON.parse(given) as Schedule;

let writes = 0;
const reach = (moment: string): void => {
  if (killAt === `${moment}:${writes}`) process.kill(process.pid, 'SIGKILL');
};

class KillingTasks extends SqliteTaskStore {
  override async put(task: Task, journal?: TaskJournal): Promise<void> {
    writes++;
    reach('before');
    await super.put(task, journal);
    reach('after');
  }
}

class KillingSchedules extends SqliteScheduleStore {
  override async change(...args: Parameters<SqliteScheduleStore['change']>): Promise<Schedule | undefined> {
    writes++;
    reach('before');
    const changed = await super.change(...args);
    reach('after');
    return changed;
  }
}

const registry = new RegistryDatabase(database).open();
const clock = new ClockWithoutTimers();
const schedules = new KillingSchedules(registry);
const tasks = new KillingTasks(registry);
const board = new TaskBoard(tasks, clock);
board.defineBulk(async (_request, { name }) => void appendFileSync(effects, `${name}\n`));
const job: JobKind = {
  kind: 'bulk',
  check: () => undefined,
  describe: () => 'a test',
  newTask: () => newTaskId('bulk', 'start', clock.now()),
  start: async ({ id }, { task, planned }, caller) => {
    const refs = ['a', 'b', 'c'].map((name) => `vm/lab/local/${name}`);
    await board.startBulk({ action: 'start', atOnce: 1, schedule: { id, planned } }, refs, caller, { id: task });
    return true;
  },
  forget: async () => undefined,
};
const scheduler = new Scheduler({
  store: schedules,
  jobs: new JobKinds([job]),
  owners: { callerOf: ({ owner }) => ({ login: owner, name: '', grant: ADMINISTRATOR }) },
  tasks: board,
  replicas: new SingleReplica(),
  audit: new Audit(new NoAuditLog(), clock),
  clock,
  log: SILENT_LOG,
});

if (schedules.count() === 0) await schedules.put(schedule);
board.onEnd(() => scheduler.wake());
await board.recover();
scheduler.start();
board.resume();
scheduler.resume();

const end = (): void => {
  const [run] = schedules.all()[0]?.runs ?? [];
  if (run?.endedAt === undefined) return void setImmediate(end);
  const { runs } = schedules.all()[0]!;
  const found = tasks.recent(10).map(({ id }) => tasks.get(id));
  registry.close();
  // Written before the process exits, also into a pipe.
  writeSync(1, JSON.stringify({ writes, runs, tasks: found }));
  process.exit();
};
end();
