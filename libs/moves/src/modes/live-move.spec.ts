import { DomainError, formatRef, type InstanceMigration } from '@headgate/domain-contracts';
import { buildVm } from '@headgate/testing';
import type { MoveInput } from '../move-input.js';
import type { MoveRequest } from '../plan/move-request.js';
import { Moving, refOf } from '../testing/moving.js';
import { Killed, TaskRun } from '../testing/task-run.js';

const WEB = formatRef(refOf('web'));
const THERE = { ...refOf('web'), context: 'other' };

describe('a live move', () => {
  let moving: Moving;
  beforeEach(() => {
    moving = new Moving({ isSingleHost: true });
    moving.start();
  });

  const plan = async (request: Partial<MoveRequest> = {}) =>
    (await moving.planMove.run({ ref: WEB, toBackend: 'memory', mode: 'live', deleteSource: true, ...request })).plan;
  const codes = async (request: Partial<MoveRequest> = {}) => (await plan(request)).refusals.map(({ code }) => code);
  const begin = (input: Partial<MoveInput> = {}): TaskRun<MoveInput> =>
    new TaskRun(
      moving.task,
      {
        id: '0b3a2d0e-0000-4000-8000-000000000001',
        source: WEB,
        destination: formatRef(THERE),
        uid: 'uid-web',
        mode: 'live',
        wasRunning: true,
        deleteSource: true,
        mapping: { networks: {}, storageClasses: {} },
        ...input,
      },
      moving.clock,
    );
  const migration = (): InstanceMigration => moving.lab.require('migration');
  /** The status of the guest at both ends. */
  const places = (): (string | undefined)[] =>
    [moving.lab.engine, moving.other.engine].map((engine, i) => {
      const ref = [refOf('web'), THERE][i] ?? THERE;
      return engine.has(ref) ? engine.vm(ref).status : undefined;
    });

  test('is planned as a migration, with the handover as its downtime', async () => {
    expect(await plan()).toMatchObject({
      ok: true,
      mode: 'live',
      destination: 'vm/other/default/web',
      refusals: [],
      dropped: [],
      estimatedDowntimeSeconds: 1,
    });
    expect((await plan()).steps.map(({ name }) => name)).toEqual(['migrate', 'folder']);
    expect(places()).toEqual(['Running', undefined]);
  });

  test('refuses everything that only a copy could have, immediately and with remedies', async () => {
    const { ok, steps, refusals } = await plan({
      deleteSource: false,
      name: 'web-2',
      mapping: { networks: { lan: 'lan-1' } },
    });
    expect([ok, steps]).toEqual([false, []]);
    expect(refusals.map(({ code }) => code)).toEqual(['SOURCE_NOT_KEPT', 'INVALID_NAME', 'INVALID_INPUT']);
    for (const { remedy } of refusals) expect(remedy).toMatch(/\.$/);
  });

  test.each([
    ['the same place', { toContext: 'lab' }, 'SAME_PLACE'],
    ['a context of another kind', { toBackend: 'closed' }, ['MODE_NOT_SUPPORTED', 'DESTINATION_CANNOT_RECEIVE']],
    ['a container', { ref: 'ct/lab/default/box' }, 'MODE_NOT_SUPPORTED'],
  ] as const)('refuses %s', async (_title, request, expected) => {
    expect(await codes(request)).toEqual([expected].flat());
  });

  test('refuses contexts that are not single machines, and backends without migration', async () => {
    moving = new Moving();
    moving.start();
    expect(await codes()).toEqual(['MODE_NOT_SUPPORTED']);
  });

  test('refuses a VM that is stopped, for the reason of the migration', async () => {
    moving.lab.engine.setStatus(moving.lab.engine.vm(refOf('web')), 'Stopped');
    expect(await codes()).toEqual(['WRONG_STATE']);
  });

  test('reports a backend that does not answer', async () => {
    migration().plan = async () => {
      throw new DomainError('BACKEND_UNREACHABLE', 'other does not answer.');
    };
    expect(await codes()).toEqual(['BACKEND_UNREACHABLE']);
  });

  test('takes a protected VM along, which stays protected', async () => {
    moving.lab.engine.put({ ...moving.lab.engine.vm(refOf('web')), protected: true });
    expect(await codes()).toEqual([]);
    await begin().run();
    expect(moving.other.engine.vm(THERE).protected).toBe(true);
  });

  test('leaves the guest running at the destination, in its folder, and reports the downtime', async () => {
    moving.records.folders.set(WEB, 'prod/web');
    expect(await begin().run()).toEqual({ destination: formatRef(THERE), downtimeSeconds: 0.12 });
    expect(places()).toEqual([undefined, 'Running']);
    expect([...moving.records.folders]).toEqual([[formatRef(THERE), 'prod/web']]);
  });

  test('leaves the guest at the source, in its folder, when it is canceled', async () => {
    moving.records.folders.set(WEB, 'prod/web');
    const run = begin();
    const migrate = migration().migrate.bind(migration());
    migration().migrate = async (...args) => {
      const work = await migrate(...args);
      run.abort.abort(new Error('Canceled by ann.'));
      return work;
    };
    await expect(run.run()).rejects.toThrow('Canceled by ann.');
    expect(places()).toEqual(['Running', undefined]);
    expect([...moving.records.folders]).toEqual([[WEB, 'prod/web']]);
  });

  test('leaves the guest at the source when the migration fails', async () => {
    migration().migrate = async () => {
      throw new DomainError('ALREADY_EXISTS', 'other already has a domain named web.');
    };
    await expect(begin().run()).rejects.toThrow('already has');
    expect(places()).toEqual(['Running', undefined]);
  });

  test('never migrates another VM that has the name of the source meanwhile', async () => {
    await expect(begin({ uid: 'another' }).run()).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
    expect(places()).toEqual(['Running', undefined]);
  });

  test('that was interrupted after the handover is completed, with the folder', async () => {
    moving.records.folders.set(WEB, 'prod');
    const run = begin();
    await expect(run.run({ step: 'migrate', when: 'after' })).rejects.toBeInstanceOf(Killed);
    await run.restart();
    expect(places()).toEqual([undefined, 'Running']);
    expect([...moving.records.folders]).toEqual([[formatRef(THERE), 'prod']]);
    expect(run.log).toContainEqual(expect.stringContaining('The guest runs at the destination.'));
  });

  test('that was interrupted before the handover ends with the reason, and the guest stays', async () => {
    const run = begin();
    await expect(run.run({ step: 'migrate', when: 'before' })).rejects.toBeInstanceOf(Killed);
    await expect(run.restart()).rejects.toThrow('The guest runs at the source, as before.');
    expect(places()).toEqual(['Running', undefined]);
  });

  test('waits after a restart until only one backend has the guest', async () => {
    const run = begin();
    await expect(run.run({ step: 'migrate', when: 'before' })).rejects.toBeInstanceOf(Killed);
    const vm = moving.lab.engine.vm(refOf('web'));
    moving.lab.engine.put({ ...vm, status: 'Migrating' });
    moving.other.engine.put(buildVm({ ...vm, ref: THERE, status: 'Paused' }));
    const restarted = run.restart();
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    moving.lab.engine.remove(refOf('web'));
    moving.clock.advance(1000);
    await restarted;
    expect(run.log).toContainEqual(expect.stringContaining('The guest runs at the destination.'));
  });
});
