import 'reflect-metadata';
import type { BulkPlanView, TaskView } from '@headgate/api-contracts';
import { buildVm } from '@headgate/testing';
import { Edge } from '../testing/edge.js';

const WEB = 'vm/lab/default/web';
const DB = 'vm/lab/default/db';
const BOX = 'ct/lab/default/box';
const ANN = { 'tailscale-user-login': 'ann' };
const MAX_TURNS = 1000;

describe('POST /api/ext/bulk with folders', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = await new Edge().open({ SVC_ADMINS: 'ann' });
    for (const path of ['prod', 'test']) await edge.send('POST', '/api/folders', { path }, ANN);
    await edge.send('POST', '/api/folders/members', { path: 'test', ref: DB }, ANN);
  });

  afterEach(() => edge.close());

  const bulk = (body: object, query = '', headers: Record<string, string> = ANN) =>
    edge.send('POST', `/api/ext/bulk${query}`, body, headers);
  const plan = async (body: object): Promise<BulkPlanView> =>
    (await bulk(body, '?dryRun=true')).json as unknown as BulkPlanView;
  const ended = async (id: unknown): Promise<TaskView> => {
    for (let turn = 0; turn < MAX_TURNS; turn++) {
      const found = (await edge.send('GET', `/api/tasks/${String(id)}`, undefined, ANN)).json as unknown as TaskView;
      if (found.status !== 'running') return found;
    }
    throw new Error(`${String(id)} did not end`);
  };
  const run = async (body: object): Promise<TaskView> => ended((await bulk(body)).json['task']);
  /** The refs of the members of each folder. */
  const members = async (): Promise<Record<string, string[]>> => {
    const { json } = await edge.send('GET', '/api/folders', undefined, ANN);
    const all = json['folders'] as { path: string; members: { ref: string }[] }[];
    return Object.fromEntries(all.map((one) => [one.path, one.members.map(({ ref }) => ref).sort()]));
  };

  test('puts VMs and containers into a folder, each with its entry in the journal', async () => {
    expect(await run({ action: 'folder', folder: 'prod', refs: [WEB, DB, BOX] })).toMatchObject({
      status: 'done',
      bulk: { action: 'folder', folder: 'prod', counts: { done: 3 } },
      steps: [{ name: 'folder prod' }],
    });
    expect(await members()).toEqual({ prod: [BOX, DB, WEB], test: [] });
    const { json } = await edge.send('GET', '/api/ext/journal', undefined, ANN);
    const entries = json as unknown as { ref: string; action: string }[];
    expect(entries.filter(({ action }) => action === 'add to folder prod').map(({ ref }) => ref)).toEqual(
      expect.arrayContaining([BOX, DB, WEB]),
    );
  });

  test('plans each member: nothing for those that are there, a refusal for those that do not exist', async () => {
    const gone = 'vm/lab/default/gone';
    const { ok, members: planned } = await plan({ action: 'folder', folder: 'test', refs: [WEB, DB, gone] });
    expect([
      ok,
      planned.map(({ ref, steps, refusals }) => [
        ref,
        steps.map(({ detail }) => detail),
        refusals.map(({ code }) => code),
      ]),
    ]).toEqual([
      true,
      [
        [WEB, [`${WEB} to test`], []],
        [DB, [], []],
        [gone, [], ['INSTANCE_NOT_FOUND']],
      ],
    ]);
    expect(await members()).toEqual({ prod: [], test: [DB] });
  });

  test('refuses a folder that does not exist for every member, and creates none', async () => {
    const { ok, refusals } = await plan({ action: 'folder', folder: 'none', refs: [WEB, DB] });
    expect([ok, refusals.map(({ code }) => code)]).toEqual([false, ['FOLDER_NOT_FOUND']]);
    expect((await run({ action: 'folder', folder: 'none', refs: [WEB] })).members).toMatchObject([
      { status: 'error', error: expect.stringContaining('none') },
    ]);
    expect(Object.keys(await members())).toEqual(['prod', 'test']);
  });

  test('retries the members that failed, once the folder exists', async () => {
    const failed = await run({ action: 'folder', folder: 'new', refs: [WEB, DB] });
    await edge.send('POST', '/api/folders', { path: 'new' }, ANN);
    const { json } = await edge.send('POST', `/api/ext/bulk/${failed.id}/retry`, undefined, ANN);
    expect(await ended(json['task'])).toMatchObject({ status: 'done', bulk: { action: 'folder', folder: 'new' } });
    expect((await members())['new']).toEqual([DB, WEB]);
  });

  test.each([
    ['folder', { folder: 'prod' }],
    ['unfolder', {}],
  ])('does %s to no other instance of the name', async (action, order) => {
    const web = edge.lab.engine.all().find(({ ref }) => ref.name === 'web')!;
    edge.lab.engine.remove(web.ref);
    // The first attempt knows the object that exists when its task begins.
    edge.lab.engine.put(buildVm({ ref: web.ref, uid: 'uid-first' }));
    await edge.send('POST', '/api/folders/members', { path: 'test', ref: WEB }, ANN);
    const waiting = (await bulk({ action, ...order, refs: [WEB], at: new Date(Date.now() + 3_600_000).toISOString() }))
      .json['task'];
    await edge.send('POST', `/api/ext/bulk/${String(waiting)}/cancel`, {}, ANN);
    await ended(waiting);
    edge.lab.engine.remove(web.ref);
    edge.lab.engine.put(buildVm({ ref: web.ref, uid: 'uid-second' }));
    await edge.send('POST', '/api/folders/members', { path: 'test', ref: WEB }, ANN);
    const { json } = await edge.send('POST', `/api/ext/bulk/${String(waiting)}/retry`, {}, ANN);
    expect((await ended(json['task'])).members).toMatchObject([
      { ref: WEB, status: 'error', error: expect.stringContaining('was replaced by another instance') },
    ]);
    expect((await members())['test']).toContain(WEB);
  });

  test('takes instances out of their folders, and changes nothing for those in none', async () => {
    const order = { action: 'unfolder', refs: [WEB, DB] };
    expect((await plan(order)).members.map(({ steps }) => steps.map(({ name }) => name))).toEqual([
      [],
      ['remove from folder'],
    ]);
    expect(await run(order)).toMatchObject({ status: 'done', bulk: { counts: { done: 2 } } });
    expect(await members()).toEqual({ prod: [], test: [] });
  });

  test('needs the right to change the folder and each member, also for the plan', async () => {
    const body = { name: 'ci', actions: ['power', 'change'], scope: { folder: 'test' } };
    const { json } = await edge.send('POST', '/api/ext/tokens', body, ANN);
    const token = { authorization: `Bearer ${String(json['token'])}` };
    for (const query of ['', '?dryRun=true'])
      for (const order of [
        { action: 'folder', folder: 'prod', refs: [DB] },
        { action: 'folder', folder: 'test', refs: [DB, WEB] },
        { action: 'unfolder', refs: [DB] },
      ]) {
        const { status, json } = await bulk(order, query, token);
        expect([order, status, json.code]).toEqual([order, 403, 'NOT_PERMITTED']);
      }
    expect(await members()).toEqual({ prod: [], test: [DB] });
    expect((await bulk({ action: 'folder', folder: 'test', refs: [DB] }, '', token)).status).toBe(202);
  });
});
