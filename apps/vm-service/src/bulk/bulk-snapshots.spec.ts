import 'reflect-metadata';
import type { SnapshotView, TaskView } from '@headgate/api-contracts';
import {
  ADMINISTRATOR,
  DomainError,
  parseRef,
  ScheduledSnapshotStore,
  type BulkOrigin,
} from '@headgate/domain-contracts';
import { RunBulk } from '@headgate/instances';
import { Edge } from '../testing/edge.js';

const WEB = 'vm/lab/default/web';
const DB = 'vm/lab/default/db';
const NIGHT = 'night';
const MAX_TURNS = 1000;
const ann = { login: 'ann', name: '', grant: ADMINISTRATOR };

/** The planned time of a run of a schedule, on a day of January 2026. */
const day = (number: number): string => `2026-01-0${number}T02:30:00.000Z`;

describe('snapshots of many instances', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = await new Edge().open();
  });

  afterEach(() => edge.close());

  const ended = async (id: unknown): Promise<TaskView> => {
    for (let turn = 0; turn < MAX_TURNS; turn++) {
      const found = (await edge.send('GET', `/api/tasks/${String(id)}`)).json as unknown as TaskView;
      if (found.status !== 'running') return found;
    }
    throw new Error(`${String(id)} did not end`);
  };
  /** A run of a schedule, as the scheduler starts it. */
  const run = async (schedule: BulkOrigin, refs = [WEB]): Promise<TaskView> =>
    ended(
      await edge.service.app
        .get(RunBulk, { strict: false })
        .run({ action: 'snapshot', schedule }, refs.map(parseRef), ann),
    );
  const snapshots = async (name = 'web'): Promise<SnapshotView[]> =>
    (await edge.send('GET', `/api/vms/default/${name}/snapshots`)).json as unknown as SnapshotView[];
  const names = async (name = 'web'): Promise<string[]> => (await snapshots(name)).map((one) => one.name);
  const days = async (name = 'web'): Promise<string[]> =>
    (await names(name)).map((one) => /-202601(\d\d)/.exec(one)?.[1] ?? one);
  const create = (name: string) => edge.send('POST', '/api/vms/default/web/snapshots', { name });
  const remove = (name: string) => edge.send('DELETE', `/api/vms/default/web/snapshots/${name}`);

  test('are created for each of them, also for the plan', async () => {
    const body = { action: 'snapshot', refs: [WEB, DB] };
    const plan = await edge.send('POST', '/api/ext/bulk?dryRun=true', body);
    expect([plan.status, plan.json['ok'], await names()]).toEqual([200, true, []]);
    const { status, json } = await edge.send('POST', '/api/ext/bulk', body);
    expect([status, (await ended(json['task'])).status]).toEqual([202, 'done']);
    expect([await names(), await names('db')]).toEqual([
      [expect.stringMatching(/^web-\d{17}$/)],
      [expect.stringMatching(/^db-\d{17}$/)],
    ]);
  });

  test.each(['schedule', 'keep'])(
    'a request can not set %s, which would delete the snapshots of others',
    async (field) => {
      const body = { action: 'snapshot', refs: [WEB], [field]: { id: NIGHT, planned: day(1), keep: 1 } };
      expect((await edge.send('POST', '/api/ext/bulk', body)).json.code).toBe('INVALID_INPUT');
    },
  );

  describe('of a schedule', () => {
    test('have the planned time in their names, and the task says from which schedule it comes', async () => {
      const schedule = { id: NIGHT, planned: day(1) };
      expect(await run(schedule, [WEB, DB])).toMatchObject({ status: 'done', bulk: { schedule } });
      expect([await names(), await names('db')]).toEqual([
        [expect.stringMatching(/^web-20260101023000-[0-9a-f]{6}$/)],
        [expect.stringMatching(/^db-20260101023000-[0-9a-f]{6}$/)],
      ]);
    });

    test('are deleted by the schedule that has created them, the oldest first, and no others', async () => {
      await create('by-hand');
      await run({ id: 'other', planned: day(1) });
      await run({ id: NIGHT, planned: day(2) }, [WEB, DB]);
      // The name looks like that of a schedule.
      const similar = (await names()).at(-1)!.replace('20260102', '20260109');
      await create(similar);
      for (const number of [3, 4, 5]) await run({ id: NIGHT, planned: day(number), keep: 2 });
      expect(await days()).toEqual(['by-hand', '01', '09', '04', '05']);
      expect(await days('db')).toEqual(['02']);
      await run({ id: NIGHT, planned: day(6), keep: 1 });
      expect(await days()).toEqual(['by-hand', '01', '09', '06']);
    });

    test('are not deleted when a user has replaced them by others of their names', async () => {
      await run({ id: NIGHT, planned: day(1) });
      const [first = ''] = await names();
      await remove(first);
      await create(first);
      for (const number of [2, 3]) await run({ id: NIGHT, planned: day(number), keep: 1 });
      expect(await days()).toEqual(['01', '03']);
    });

    test('are not deleted when they are replaced between the look at them and the deletion', async () => {
      await run({ id: NIGHT, planned: day(1) });
      const [first = ''] = await names();
      const snapshotsOf = edge.lab.require('snapshots');
      const planDelete = snapshotsOf.planDelete.bind(snapshotsOf);
      snapshotsOf.planDelete = async (ref, name) => {
        snapshotsOf.planDelete = planDelete;
        const plan = await planDelete(ref, name);
        await snapshotsOf.delete(ref, name);
        await snapshotsOf.create(ref, { name });
        return plan;
      };
      expect((await run({ id: NIGHT, planned: day(2), keep: 1 })).status).toBe('done');
      expect(await names()).toContain(first);
    });

    test('are not those of a user who had the name before', async () => {
      await run({ id: NIGHT, planned: day(1) });
      const [first = ''] = await names();
      const second = first.replace('20260101', '20260102');
      await create(second);
      expect((await run({ id: NIGHT, planned: day(2), keep: 1 })).members).toMatchObject([
        { status: 'error', error: expect.stringContaining(second) },
      ]);
      for (const number of [3, 4]) await run({ id: NIGHT, planned: day(number), keep: 1 });
      expect(await names()).toEqual([second, expect.stringContaining('20260104')]);
    });

    test('are not deleted when it is unknown whether the schedule has created them', async () => {
      await create('half-done');
      const { uid } = edge.lab.engine.all().find(({ ref }) => ref.name === 'web')!;
      const store = edge.service.app.get(ScheduledSnapshotStore, { strict: false });
      // A process that was killed has left this.
      await store.put({ owner: NIGHT, id: WEB, uid, snapshots: [{ name: 'half-done' }] });
      for (const number of [1, 2]) await run({ id: NIGHT, planned: day(number), keep: 1 });
      expect(await days()).toEqual(['half-done', '02']);
      await remove('half-done');
      await run({ id: NIGHT, planned: day(3), keep: 1 });
      expect(store.of(NIGHT)[0]?.snapshots.map(({ name }) => name)).toEqual(await names());
    });

    test('of an earlier VM of the name say nothing about those of the present one', async () => {
      await run({ id: NIGHT, planned: day(1) });
      const [first = ''] = await names();
      const web = edge.lab.engine.all().find(({ ref }) => ref.name === 'web')!;
      edge.lab.engine.remove(web.ref);
      edge.lab.engine.put({ ...web, uid: 'another-web' } as typeof web);
      await create(first);
      for (const number of [2, 3]) await run({ id: NIGHT, planned: day(number), keep: 1 });
      expect(await days()).toEqual(['01', '03']);
    });

    test('a failed deletion is the error of the member, and a retry completes it without another snapshot', async () => {
      await run({ id: NIGHT, planned: day(1) });
      const snapshotsOf = edge.lab.require('snapshots');
      const { delete: works } = snapshotsOf;
      snapshotsOf.delete = () => Promise.reject(new DomainError('BACKEND_FAILED', 'The disk is locked.'));
      const failed = await run({ id: NIGHT, planned: day(2), keep: 1 });
      expect(failed.members).toMatchObject([
        {
          status: 'error',
          error: expect.stringMatching(
            /^The snapshot web-20260102\S+ was created, but web-20260101\S+ could not be deleted: The disk/,
          ),
        },
      ]);
      snapshotsOf.delete = works;
      const { json } = await edge.send('POST', `/api/ext/bulk/${failed.id}/retry`);
      expect((await ended(json['task'])).status).toBe('done');
      expect(await days()).toEqual(['02']);
    });

    test('are recorded over a restart, and only for those who may change the VM', async () => {
      await run({ id: NIGHT, planned: day(1) });
      const grant = { ...ADMINISTRATOR, allowsRef: () => false, label: 'Oscar' } as unknown as typeof ADMINISTRATOR;
      const refused = await edge.service.app
        .get(RunBulk, { strict: false })
        .run({ action: 'snapshot', schedule: { id: NIGHT, planned: day(2), keep: 1 } }, [parseRef(WEB)], {
          ...ann,
          grant,
        });
      expect((await ended(refused)).members).toMatchObject([
        { status: 'error', error: expect.stringMatching(/no right/) },
      ]);
      await edge.reopen();
      await run({ id: NIGHT, planned: day(3), keep: 1 });
      expect(await days()).toEqual(['03']);
    });
  });
});
