import 'reflect-metadata';
import type { TaskView } from '@headgate/api-contracts';
import { AuditLog, type InstancePower } from '@headgate/domain-contracts';
import { TaskBoard } from '@headgate/tasks';
import { Edge } from '../testing/edge.js';

const WEB = 'vm/lab/default/web';
const DB = 'vm/lab/default/db';
const TWIN = 'vm/other/default/twin';
const MAX_TURNS = 1000;

describe('POST /api/ext/bulk', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = await new Edge().open();
  });

  afterEach(() => edge.close());

  const start = async (body: object): Promise<string> => {
    const answer = await edge.send('POST', '/api/ext/bulk', body);
    expect([answer.status, answer.json.error]).toEqual([202, undefined]);
    return String(answer.json['task']);
  };
  const task = async (id: string): Promise<TaskView> =>
    (await edge.send('GET', `/api/tasks/${id}`)).json as unknown as TaskView;
  /** The task when it has ended. Each request lets the work continue. */
  const ended = async (id: string): Promise<TaskView> => {
    for (let turn = 0; turn < MAX_TURNS; turn++) {
      const found = await task(id);
      if (found.status !== 'running') return found;
    }
    throw new Error(`${id} did not end`);
  };
  const statusOf = async (name: string, context = 'lab'): Promise<unknown> =>
    ((await edge.send('GET', '/api/vms')).json as unknown as Record<string, unknown>[]).find(
      (vm) => vm['name'] === name && vm['context'] === context,
    )?.['status'];

  test('acts on each instance once, over several contexts, as a task', async () => {
    const id = await start({ action: 'start', refs: [WEB, TWIN, WEB] });
    expect(id).toMatch(/^bulk-start-/);
    expect(await ended(id)).toMatchObject({
      kind: 'bulk',
      status: 'done',
      ref: '',
      progress: 1,
      bulk: { action: 'start', counts: { waiting: 0, running: 0, done: 2, error: 0, skipped: 0 } },
      members: [
        { ref: WEB, status: 'done' },
        { ref: TWIN, status: 'done' },
      ],
    });
    expect([await statusOf('web'), await statusOf('twin', 'other'), await statusOf('twin')]).toEqual([
      'Running',
      'Running',
      'Stopped',
    ]);
  });

  test('lists its counts without its members', async () => {
    const id = await start({ action: 'start', refs: [WEB] });
    await ended(id);
    const [listed] = (await edge.send('GET', '/api/tasks')).json as unknown as TaskView[];
    expect(listed).toMatchObject({ id, bulk: { counts: { done: 1 } } });
    expect(listed).not.toHaveProperty('members');
  });

  test('reports the failure of one instance, continues with the others, and retries what failed', async () => {
    const id = await start({ action: 'restart', refs: [WEB, DB] });
    expect(await ended(id)).toMatchObject({
      status: 'error',
      error: '1 of 2 failed.',
      members: [
        { ref: WEB, status: 'error', error: expect.stringMatching(/web/) },
        { ref: DB, status: 'done' },
      ],
    });
    await ended(await start({ action: 'start', refs: [WEB] }));
    const again = await edge.send('POST', `/api/ext/bulk/${id}/retry`);
    expect(again.status).toBe(202);
    expect(await ended(String(again.json['task']))).toMatchObject({
      status: 'done',
      bulk: { action: 'restart' },
      members: [{ ref: WEB, status: 'done' }],
    });
    const nothing = await edge.send('POST', `/api/ext/bulk/${String(again.json['task'])}/retry`);
    expect([nothing.status, nothing.json.code]).toEqual([409, 'WRONG_STATE']);
  });

  test('deletes only the given instances, never a protected VM', async () => {
    const kept = edge.lab.engine.all().find(({ ref }) => ref.name === 'db')!;
    edge.lab.engine.put({ ...kept, protected: true } as typeof kept);
    const done = await ended(await start({ action: 'delete', refs: [WEB, DB] }));
    expect(done.members).toMatchObject([
      { status: 'done' },
      { status: 'error', error: expect.stringMatching(/protected/) },
    ]);
    const refs = ((await edge.send('GET', '/api/vms')).json as unknown as { ref: string }[]).map(({ ref }) => ref);
    expect(refs).toEqual([DB, 'vm/lab/default/twin', TWIN]);
    expect((await edge.send('GET', '/api/cts')).json).toHaveLength(1);
  });

  test('finds its instances with a query, and refuses one that would choose all', async () => {
    const done = await ended(await start({ action: 'tag', tag: 'night', query: { q: 'twin' } }));
    expect(done.members?.map(({ ref }) => ref)).toEqual(['vm/lab/default/twin', TWIN]);
    for (const query of [{}, { q: '  ' }, { kind: 'vm' }]) {
      const answer = await edge.send('POST', '/api/ext/bulk', { action: 'stop', query });
      expect([answer.status, answer.json.code]).toEqual([400, 'INVALID_INPUT']);
    }
  });

  test.each([
    ['neither refs nor query', { action: 'start' }],
    ['both refs and query', { action: 'start', refs: [WEB], query: { q: 'web' } }],
    ['an unknown action', { action: 'explode', refs: [WEB] }],
    ['a ref that is none', { action: 'start', refs: ['web'] }],
    ['no instance', { action: 'start', refs: [] }],
    ['a query without a match', { action: 'start', query: { q: 'nothing-like-this' } }],
    ['a tag without its name', { action: 'tag', refs: [WEB] }],
    ['a name that no tag needs', { action: 'start', tag: 'night', refs: [WEB] }],
    ['a folder without its path', { action: 'folder', refs: [WEB] }],
    ['a path that no folder has', { action: 'folder', folder: '../etc', refs: [WEB] }],
    ['a path that nothing needs', { action: 'unfolder', folder: 'prod', refs: [WEB] }],
    ['force without stop', { action: 'restart', force: true, refs: [WEB] }],
    [
      'too many instances',
      { action: 'start', refs: Array.from({ length: 10_001 }, (_none, index) => `vm/lab/default/v${index}`) },
    ],
    ['an unknown field', { action: 'start', refs: [WEB], where: 'here' }],
  ])('refuses %s', async (_title, body) => {
    const answer = await edge.send('POST', '/api/ext/bulk', body);
    expect([answer.status, answer.json.error !== '']).toEqual([400, true]);
    expect((await edge.send('GET', '/api/tasks')).json).toEqual([]);
  });

  test('plans without doing anything, and names what does not exist', async () => {
    const plan = await edge.send('POST', '/api/ext/bulk?dryRun=true', {
      action: 'stop',
      force: true,
      refs: [DB, 'vm/lab/default/none'],
    });
    expect([plan.status, plan.json]).toEqual([
      200,
      {
        steps: [{ name: 'stop by force', detail: DB }],
        warnings: ['vm/lab/default/none does not exist.'],
        refusals: [],
        ok: true,
        members: [
          { ref: DB, ok: true, steps: [{ name: 'stop', detail: 'db, by force' }], warnings: [], refusals: [] },
          {
            ref: 'vm/lab/default/none',
            ok: false,
            steps: [],
            warnings: [],
            refusals: [{ code: 'INSTANCE_NOT_FOUND', reason: expect.stringContaining('none'), remedy: '' }],
          },
        ],
        unplanned: 0,
      },
    ]);
    expect(await statusOf('db')).toBe('Running');
  });

  test('begins nothing more when it is canceled, and says what it did not do', async () => {
    const gate = Promise.withResolvers<void>();
    const power = edge.lab.require('power');
    const held: string[] = [];
    const apply = power.apply.bind(power);
    power.apply = async (...args: Parameters<InstancePower['apply']>) => {
      held.push(args[0].name);
      await gate.promise;
      return apply(...args);
    };
    const refs = Array.from({ length: 20 }, (_none, index) => `vm/lab/default/many-${index}`);
    const [template] = edge.lab.engine.all();
    for (const ref of refs)
      edge.lab.engine.put({
        ...template!,
        uid: ref,
        ref: { ...template!.ref, name: ref.split('/')[3]! },
      } as typeof template & {});
    const id = await start({ action: 'start', refs });
    for (let turn = 0; turn < MAX_TURNS && held.length < 8; turn++) await task(id);
    expect((await edge.send('POST', `/api/ext/bulk/${id}/cancel`)).json).toEqual({ status: 'ok' });
    gate.resolve();
    const done = await ended(id);
    expect([done.status, done.error]).toEqual(['error', expect.stringMatching(/^Canceled by /)]);
    expect(done.bulk?.counts).toEqual({ waiting: 0, running: 0, done: 8, error: 0, skipped: 12 });
    expect(held).toHaveLength(8);
    expect((await edge.send('POST', `/api/ext/bulk/${id}/cancel`)).status).toBe(409);
  });

  /** Ten instances whose action waits until the test lets it go; the names of those whose action began. */
  const hold = (): { refs: string[]; held: string[]; release: () => void } => {
    const power = edge.lab.require('power');
    const apply = power.apply.bind(power);
    const gate = Promise.withResolvers<void>();
    const held: string[] = [];
    power.apply = async (...args: Parameters<InstancePower['apply']>) => {
      held.push(args[0].name);
      await gate.promise;
      return apply(...args);
    };
    const refs = Array.from({ length: 10 }, (_none, index) => `vm/lab/default/later-${index}`);
    for (const ref of refs) {
      const vm = edge.lab.engine.all()[0]!;
      edge.lab.engine.put({ ...vm, uid: ref, ref: { ...vm.ref, name: ref.split('/')[3]! } } as typeof vm);
    }
    return { refs, held, release: gate.resolve };
  };

  test('continues after a restart of the service with the members that had not begun', async () => {
    const { refs, held, release } = hold();
    const id = await start({ action: 'start', refs });
    for (let turn = 0; turn < MAX_TURNS && held.length < 8; turn++) await task(id);
    const board = edge.service.app.get(TaskBoard);
    const close = board.close.bind(board);
    board.close = () => {
      const closed = close();
      release();
      return closed;
    };
    await edge.reopen();
    const kept = await ended(id);
    expect([kept.status, kept.error]).toEqual(['done', '']);
    expect(kept.bulk?.counts).toMatchObject({ waiting: 0, running: 0, done: 10, skipped: 0 });
    expect(held).toHaveLength(10);
    expect(kept.log).toMatch(/Resumed after a restart/);
  });

  test('pauses, and continues with the caller of the task', async () => {
    const { refs, held, release } = hold();
    const id = await start({ action: 'start', refs });
    for (let turn = 0; turn < MAX_TURNS && held.length < 8; turn++) await task(id);
    for (const action of ['pause', 'pause'])
      expect((await edge.send('POST', `/api/ext/bulk/${id}/${action}`)).json).toEqual({ status: 'ok' });
    release();
    for (let turn = 0; turn < MAX_TURNS && (await task(id)).bulk?.counts.running !== 0; turn++);
    expect(await task(id)).toMatchObject({
      status: 'running',
      waiting: 'Paused.',
      bulk: { paused: true, counts: { waiting: 2, running: 0, done: 8 } },
    });
    expect(held).toHaveLength(8);
    expect((await edge.send('POST', `/api/ext/bulk/${id}/resume`)).status).toBe(200);
    expect(await ended(id)).toMatchObject({ status: 'done', bulk: { paused: false, counts: { done: 10 } } });
    const late = await edge.send('POST', `/api/ext/bulk/${id}/pause`);
    expect([late.status, late.json.code]).toEqual([409, 'WRONG_STATE']);
    expect((await edge.send('POST', '/api/ext/bulk/none/pause')).status).toBe(404);
  });

  test('writes an audit entry for each instance with the caller, and refuses callers who may not change anything', async () => {
    await edge.reopen({ SVC_ADMINS: 'ann' });
    const ann = { 'tailscale-user-login': 'ann' };
    const refused = await edge.send(
      'POST',
      '/api/ext/bulk',
      { action: 'start', refs: [WEB] },
      { 'tailscale-user-login': 'bob' },
    );
    expect(refused.status).toBe(403);
    const answer = await edge.send('POST', '/api/ext/bulk', { action: 'start', refs: [WEB] }, ann);
    const id = String(answer.json['task']);
    for (const action of ['cancel', 'retry', 'pause', 'resume'])
      expect(
        (await edge.send('POST', `/api/ext/bulk/${id}/${action}`, undefined, { 'tailscale-user-login': 'bob' })).status,
      ).toBe(403);
    expect(await ended(id)).toMatchObject({ caller: 'ann' });
    expect(edge.service.app.get(AuditLog).recent(10)).toMatchObject([
      { caller: 'ann', action: 'start', ref: WEB, outcome: 'ok' },
    ]);
  });
});
