import {
  DomainError,
  type InstanceDirectory,
  type OperationKey,
  type OperationState,
  type Reservation,
  type TaskDefinition,
  type TaskJournal,
  type TaskRunner,
} from '@headgate/domain-contracts';
import { buildVm, recordingStepContext } from '@headgate/testing';
import { enginePatience, EngineTasks } from './engine-tasks.js';

const web = buildVm();
const input = { request: 'r', ref: 'vm/lab/default/web', uid: web.uid, wasRunning: true, node: 'node-1' };
const key: OperationKey = { id: 'restore-web-1', wasRunning: true, node: 'node-1' };

/**
 * The definition of a task over an engine that is in a state, as a process sees it that has not requested the
 * operation.
 */
function recovered(state: OperationState, { uid = web.uid, discards = async () => undefined as void } = {}) {
  const calls: [string, OperationKey][] = [];
  let definition!: TaskDefinition<typeof input>;
  const called = (name: string) => async (_ref: unknown, _order: unknown, given: OperationKey) => {
    calls.push([name, given]);
    return async () => void calls.push([`${name} work`, given]);
  };
  new EngineTasks(
    {
      tasks: {
        define: (given: TaskDefinition) => {
          definition = given as unknown as typeof definition;
          return { start: async () => '' };
        },
      } as unknown as TaskRunner,
      directory: { get: () => ({ ...web, uid }) } as unknown as InstanceDirectory,
    },
    {
      kind: 'restore',
      label: () => 'the restore',
      patience: () => enginePatience('the restore', 'It may go on.'),
      isCancelable: () => true,
      begin: called('begin'),
      stateOf: async () => state,
      resume: called('resume'),
      discard: async (_ref, _order, given) => {
        calls.push(['discard', given]);
        await discards();
      },
    },
  );
  const context = recordingStepContext(input, { task: key.id });
  const journal = (finished: number, more: Partial<TaskJournal> = {}): TaskJournal<typeof input> => ({
    task: key.id,
    version: 1,
    caller: context.caller,
    input,
    steps: definition
      .steps(input)
      .slice(0, finished + 1)
      .map(({ name }, index) => ({
        name,
        params: {},
        attempts: 1,
        isFinished: index < finished,
      })),
    ...(more as object),
  });
  const follow = async () => definition.steps(input)[1]?.run(context);
  return { calls, context, definition, journal, follow };
}

describe('the task of an operation that an earlier process has requested', () => {
  test.each([
    ['absent', 0, { action: 'continue' }],
    ['running', 0, { action: 'finished' }],
    ['done', 0, { action: 'finished' }],
    ['absent', 1, { action: 'continue' }],
    ['running', 1, { action: 'continue' }],
    ['done', 1, { action: 'continue' }],
  ] as const)('that is %s, with %i finished steps, goes on with %j', async (state, finished, expected) => {
    const { definition, journal, context, calls } = recovered({ state });
    expect(await definition.resume?.(journal(finished), context)).toEqual(expected);
    expect(calls).toEqual([]);
  });

  test('is rolled back with the reason of the engine when it has failed', async () => {
    const { definition, journal, context, follow } = recovered({ state: 'failed', reason: 'The disk is full.' });
    const decision = await definition.resume?.(journal(0), context);
    expect(decision).toEqual({ action: 'rollback', reason: 'The disk is full.' });
    await expect(follow()).rejects.toThrow('The disk is full.');
  });

  test.each([
    ['absent', ['begin', 'begin work']],
    ['running', ['resume', 'resume work']],
    ['done', []],
  ] as const)('that is %s calls %j, each with its key', async (state, expected) => {
    const { calls, follow } = recovered({ state });
    await follow();
    expect(calls).toEqual(expected.map((name) => [name, key]));
  });

  test('touches nothing when another instance has the name', async () => {
    const { definition, journal, context, calls, follow } = recovered({ state: 'running' }, { uid: 'another' });
    await expect(follow()).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
    await definition.rollback?.(journal(1), context);
    expect([calls, context.lines.at(-1)]).toEqual([[], expect.stringContaining('another instance has its name')]);
  });

  test('discards an incomplete one, and leaves a complete one', async () => {
    const running = recovered({ state: 'running' });
    await running.definition.rollback?.(running.journal(1), running.context);
    expect(running.calls).toEqual([['discard', key]]);
    const done = recovered({ state: 'done' });
    await done.definition.rollback?.(done.journal(1), done.context);
    expect([done.calls, done.context.lines]).toEqual([[], ['It was done already, and stays.']]);
  });

  test('fails to roll back with the state of the VM when it can not be undone, unless the rights of its caller are unknown', async () => {
    const discards = async () => {
      throw new DomainError('WRONG_STATE', 'The disks of web are being replaced.');
    };
    const { definition, journal, context, calls } = recovered({ state: 'running' }, { discards });
    await expect(definition.rollback?.(journal(1), context)).rejects.toThrow('The disks of web are being replaced.');
    expect(calls.map(([name]) => name)).toEqual(['discard']);
    await definition.rollback?.(journal(1, { isLimited: true }), context);
    expect(calls.map(([name]) => name)).toEqual(['discard', 'discard', 'resume', 'resume work']);
  });
});

test.each([true, false])('journals %s from the engine, whatever the list of instances shows', async (startsAgain) => {
  const inputs: unknown[] = [];
  const asked: unknown[] = [];
  const tasks = {
    define: () => ({
      start: async ({ input: given }: { input: unknown }) => {
        inputs.push(given);
        return 'restore-web-1';
      },
    }),
    whenEnded: async () => undefined,
    get: () => ({ status: 'done', error: '' }),
  } as unknown as TaskRunner;
  const listed = { ...web, status: startsAgain ? 'Stopped' : 'Running' } as const;
  const nothing = async () => async () => undefined;
  const restores = new EngineTasks(
    { tasks, directory: { get: () => listed } as unknown as InstanceDirectory },
    {
      kind: 'restore',
      label: () => 'the restore',
      patience: () => enginePatience('the restore', 'It may go on.'),
      isCancelable: () => true,
      startsAgain: async (ref) => {
        asked.push(ref);
        return startsAgain;
      },
      begin: nothing,
      stateOf: async () => ({ state: 'done' }),
      resume: nothing,
      discard: async () => undefined,
    },
  );
  const { caller } = recordingStepContext({});
  const reservation = { release: () => undefined } as unknown as Reservation;
  await restores.start({ name: 'web', ref: web.ref, params: {}, caller, reservation });
  expect(asked).toEqual([web.ref]);
  expect(inputs).toMatchObject([{ wasRunning: startsAgain }]);
});
