import 'reflect-metadata';
import type { MoveQueuePlanView, TaskView } from '@headgate/api-contracts';
import { unreachable, Edge } from '../testing/edge.js';

const WEB = 'vm/lab/default/web';
const DB = 'vm/lab/default/db';
const LAB_TWIN = 'vm/lab/default/twin';
const TO_OTHER = { toBackend: 'memory', toContext: 'other' };
const MAX_TURNS = 20_000;

describe('queues of moves', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = await new Edge().open();
    await edge.send('GET', '/api/vms');
  });

  afterEach(() => edge.close());

  const preflight = async (body: object) => edge.send('POST', '/api/move/preflight', { ...TO_OTHER, ...body });
  const move = (body: object, query = '') => edge.send('POST', `/api/move${query}`, { ...TO_OTHER, ...body });
  const planOf = (json: object): MoveQueuePlanView => json as MoveQueuePlanView;
  const task = async (id: string): Promise<TaskView> =>
    (await edge.send('GET', `/api/tasks/${id}`)).json as unknown as TaskView;
  const untilTask = async (id: string, isDone: (found: TaskView) => boolean): Promise<TaskView> => {
    for (let turn = 0; turn < MAX_TURNS; turn++) {
      const found = await task(id);
      if (isDone(found)) return found;
      await new Promise((resolve) => setImmediate(resolve));
    }
    throw new Error(`${id} did not come that far`);
  };
  const ended = (id: string): Promise<TaskView> => untilTask(id, ({ status }) => status !== 'running');
  const started = async (body: object): Promise<string> => {
    const { status, json } = await move(body);
    expect([status, json.error]).toEqual([200, undefined]);
    return String(json['task']);
  };
  const inFolder = async (...refs: string[]): Promise<void> => {
    await edge.send('POST', '/api/folders', { path: 'prod/web' });
    for (const ref of refs) await edge.send('POST', '/api/folders/members', { path: 'prod/web', ref });
  };
  const contextsOf = async (name: string): Promise<unknown[]> =>
    ((await edge.send('GET', `/api/vms?q=${name}`)).json as unknown as Record<string, unknown>[])
      .filter((vm) => vm['name'] === name)
      .map((vm) => [vm['context'], vm['folder']]);

  test('move a folder as one task with a result for each VM, and keep the folder', async () => {
    await inFolder(WEB, DB);
    const plan = planOf((await preflight({ query: { folder: 'prod' }, deleteSource: true })).json);
    expect(plan).toMatchObject({ ok: true, refusals: [], perHost: 2, deleteSource: true });
    expect(plan.members.map(({ source }) => source)).toEqual([DB, WEB]);
    const id = await started({ query: { folder: 'prod' }, deleteSource: true, perHost: 1 });
    expect(id).toMatch(/^bulk-move-/);
    const done = await ended(id);
    expect(done).toMatchObject({
      status: 'done',
      kind: 'bulk',
      bulk: { action: 'move', perHost: 1, counts: { done: 2 } },
    });
    for (const { ref, status, task: child } of done.members ?? []) {
      expect(status).toBe('done');
      expect(await task(child ?? '')).toMatchObject({ kind: 'move', status: 'done', ref });
    }
    expect([await contextsOf('web'), await contextsOf('db')]).toEqual([
      [['other', 'prod/web']],
      [['other', 'prod/web']],
    ]);
    const again = await move({ query: { folder: 'prod' } });
    expect([again.status, again.json.error]).toEqual([409, '2 VMs are left out: already at the destination.']);
  });

  test('have the refusals of all VMs in the preflight, and in the 409', async () => {
    const body = { refs: [WEB, 'ct/lab/default/none', LAB_TWIN, 'vm/lab/default/none'], mode: 'cold' };
    const checked = await preflight(body);
    const { ok, refusals } = planOf(checked.json);
    expect([checked.status, ok]).toEqual([200, false]);
    expect(refusals.map(({ ref, code }) => [ref, code])).toEqual([
      ['ct/lab/default/none', 'INSTANCE_NOT_FOUND'],
      [LAB_TWIN, 'ALREADY_EXISTS'],
      ['vm/lab/default/none', 'INSTANCE_NOT_FOUND'],
    ]);
    const { status, json } = await move(body);
    const { error, code, ...plan } = json;
    expect([status, code, error]).toEqual([409, 'MOVE_REFUSED', expect.stringMatching(/There are 2 more refusals\.$/)]);
    expect(plan).toEqual(checked.json);
    expect((await edge.send('GET', '/api/tasks')).json).toEqual([]);
  });

  test('move the others if that was asked for, and retry only what failed', async () => {
    const id = await started({ refs: [WEB, LAB_TWIN], skipRefused: true });
    expect(await ended(id)).toMatchObject({
      status: 'error',
      error: '1 of 2 failed.',
      members: [
        { ref: WEB, status: 'done' },
        { ref: LAB_TWIN, status: 'error', error: expect.stringMatching(/already exists.*another name/) },
      ],
    });
    await edge.send('DELETE', '/api/vms/default/twin?context=other');
    const again = await edge.send('POST', `/api/ext/bulk/${id}/retry`);
    expect(again.status).toBe(202);
    expect(await ended(String(again.json['task']))).toMatchObject({
      status: 'done',
      bulk: { action: 'move', perHost: 2, move: TO_OTHER },
      members: [{ ref: LAB_TWIN, status: 'done' }],
    });
  });

  test('change nothing in a dry run', async () => {
    const { status, json } = await move({ refs: [WEB, DB], deleteSource: true }, '?dryRun=true');
    expect([status, planOf(json).members.length]).toEqual([200, 2]);
    expect((await edge.send('GET', '/api/tasks')).json).toEqual([]);
    expect(await contextsOf('web')).toEqual([['lab', undefined]]);
  });

  test('pause, continue, and continue after a restart of the service', async () => {
    const gate = Promise.withResolvers<void>();
    const ingest = edge.other.require('diskIngest');
    const commit = ingest.commit.bind(ingest);
    ingest.commit = async (target) => {
      await gate.promise;
      return commit(target);
    };
    const id = await started({ refs: [WEB, DB], perHost: 1 });
    await untilTask(id, ({ bulk }) => bulk?.counts.running === 1);
    expect((await edge.send('POST', `/api/ext/bulk/${id}/pause`)).status).toBe(200);
    gate.resolve();
    await untilTask(id, ({ bulk }) => bulk?.counts.done === 1);
    expect(await task(id)).toMatchObject({ status: 'running', bulk: { paused: true, counts: { waiting: 1 } } });
    await edge.reopen();
    expect(await task(id)).toMatchObject({
      status: 'running',
      bulk: { paused: true, counts: { done: 1, waiting: 1 } },
    });
    expect((await edge.send('POST', `/api/ext/bulk/${id}/resume`)).status).toBe(200);
    expect(await ended(id)).toMatchObject({ status: 'done', bulk: { counts: { done: 2 } } });
  });

  test('report a member whose move failed, whose source is as before', async () => {
    const ingest = edge.other.require('diskIngest');
    const commit = ingest.commit.bind(ingest);
    ingest.commit = async (target) => {
      if (target.ref.name === 'db') throw unreachable;
      return commit(target);
    };
    const done = await ended(await started({ refs: [WEB, DB], deleteSource: true }));
    expect(done.members).toMatchObject([
      { ref: WEB, status: 'done' },
      { ref: DB, status: 'error', error: unreachable.message },
    ]);
    const list = (await edge.send('GET', '/api/vms?q=db')).json as unknown as object[];
    expect(list).toMatchObject([{ context: 'lab', status: 'Running' }]);
  });

  test.each([
    ['none of ref, refs and query', {}],
    ['two of them', { ref: WEB, refs: [WEB] }],
    ['a name for several', { refs: [WEB], name: 'other' }],
    ['no member', { refs: [] }],
    ['a ref that is none', { refs: ['web'] }],
    ['a query that chooses all', { query: {} }],
    ['a query of something unknown', { query: { color: 'red' } }],
    ['no member at a time', { refs: [WEB], perHost: 0 }],
    ['too many members at a time', { refs: [WEB], perHost: 9 }],
    ['a limit for a single VM', { ref: WEB, perHost: 2 }],
    ['skipRefused for a single VM', { ref: WEB, skipRefused: true }],
    ['too many members', { refs: Array.from({ length: 1001 }, (_none, index) => `vm/lab/default/v${index}`) }],
  ])('refuse %s with 400, and so does the preflight', async (_title, body) => {
    for (const send of [preflight, move]) {
      const answer = await send(body);
      expect([answer.status, typeof answer.json.error]).toEqual([400, 'string']);
    }
    expect((await edge.send('GET', '/api/tasks')).json).toEqual([]);
  });

  test('are no action of bulk tasks, and are for administrators only', async () => {
    const bulk = await edge.send('POST', '/api/ext/bulk', { action: 'move', refs: [WEB] });
    expect(bulk.status).toBe(400);
    await edge.reopen({ SVC_ADMINS: 'ann' });
    expect((await move({ refs: [WEB] })).status).toBe(403);
  });
});
