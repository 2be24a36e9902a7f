import type { TaskView } from '@headgate/api-contracts';
import { ClientError } from '../client/client-error.js';
import type { Session } from '../session.js';
import { followTask, taskFailure } from '../tasks/follow-task.js';
import type { Presentation } from '../terminal/output.js';
import { printable, printableLines } from '../terminal/printable.js';
import type { AddCommands } from './command-context.js';

const TASKS: Presentation<TaskView> = {
  nameOf: ({ id }) => id,
  ifEmpty: 'There are no tasks.',
  columns: [
    { title: 'ID', of: ({ id }) => id },
    { title: 'KIND', of: ({ kind }) => kind },
    { title: 'STATUS', of: ({ status }) => status },
    { title: 'PROGRESS', of: ({ progress }) => (progress === null ? undefined : `${Math.floor(progress * 100)}%`) },
    { title: 'STARTED', of: ({ startedAt }) => startedAt },
    { title: 'INSTANCE', of: ({ ref }) => ref },
    { title: 'CALLER', of: ({ caller }) => caller, isWide: true },
    { title: 'ERROR', of: ({ error }) => error, isWide: true },
  ],
};

/** task list, get, follow and cancel. */
export const addTaskCommands: AddCommands = (program, act) => {
  const group = program
    .command('task')
    .helpCommand(false)
    .summary('list, show, follow and cancel tasks')
    .description('Tasks: the long operations. The exit code of a followed task is 0 if it succeeds, and 1 if it fails.')
    .option('-f, --follow <id>', 'show the log and the progress of a task until it ends')
    .action(
      act(async (session: Session, { follow: id }: { follow?: string }) => {
        if (id === undefined) throw ClientError.usage('Use "task list", "task get ID" or "task -f ID".');
        await follow(session, id);
      }),
    );
  group
    .command('list')
    .alias('ls')
    .description('Lists the last 100 tasks, the newest first.')
    .action(act(async (session: Session) => session.output.list(await (await session.api()).get('/api/tasks'), TASKS)));
  group.command('get').description('Shows a task with its log.').argument('<id>').action(act(get));
  group
    .command('follow')
    .description('Shows the log and the progress of a task until it ends.')
    .argument('<id>')
    .action(act(follow));
  group
    .command('cancel')
    .description('Cancels a task, which is rolled back then.')
    .argument('<id>')
    .action(
      act(async (session: Session, id: string) => {
        const { status } = await (await session.api()).delete(taskPath(id));
        session.output.note(`${id}: ${status}`);
      }),
    );
};

const taskPath = (id: string) => `/api/tasks/${encodeURIComponent(id)}` as const;

async function get(session: Session, id: string): Promise<void> {
  const task = await (await session.api()).get(taskPath(id));
  await session.output.value(task, () => describe(task), task.id);
}

async function follow(session: Session, id: string): Promise<void> {
  const task = await followTask(await session.api(), session.environment, id);
  await session.output.value(task, () => `${printable(task.id)}: ${task.status}\n`, task.id);
  if (task.status === 'error') throw taskFailure(task);
}

function describe({ log, members = [], ...task }: TaskView): string {
  const facts: readonly (readonly [string, string | undefined | null])[] = [
    ['ID', task.id],
    ['Kind', task.kind],
    ['Status', task.status],
    ['Instance', task.ref],
    ['Caller', task.caller],
    ['Started', task.startedAt],
    ['Ended', task.finishedAt],
    ['Waits for', task.waitsFor],
    ['Error', task.error],
    ...members.map(({ ref, status, error }) => [ref, `${status}${error ? `: ${error}` : ''}`] as const),
  ];
  const lines = facts.flatMap(([name, value]) => (value ? [`${printable(name)}: ${printable(value)}\n`] : []));
  return `${lines.join('')}\n${printableLines(log)}${log.endsWith('\n') || log === '' ? '' : '\n'}`;
}
