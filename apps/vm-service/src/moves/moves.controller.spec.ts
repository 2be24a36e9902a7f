import 'reflect-metadata';
import { MemoryBackend } from '@headgate/testing';
import { unreachable, Edge } from '../testing/edge.js';

const WEB = 'vm/lab/default/web';
const DB = 'vm/lab/default/db';
const TO_OTHER = { toBackend: 'memory', toContext: 'other' };

interface Plan {
  ok: boolean;
  refusals: { code: string; reason: string; remedy: string; category: string; severity: string }[];
}

describe('moves', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = await new Edge().open();
    await edge.send('GET', '/api/vms');
  });

  afterEach(() => edge.close());

  const preflight = (body: object) => edge.send('POST', '/api/move/preflight', { ...TO_OTHER, ...body });
  const move = (body: object, query = '') => edge.send('POST', `/api/move${query}`, { ...TO_OTHER, ...body });
  const codes = (json: object): string[] => (json as Plan).refusals.map(({ code }) => code);
  const ended = async (task: string): Promise<Record<string, unknown>> => {
    for (;;) {
      const { json } = await edge.send('GET', `/api/tasks/${task}`);
      if (json['status'] !== 'running') return json;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };

  test('have the contexts as destinations, with the reason of those that do not receive', async () => {
    edge.other.engine.disconnect(unreachable);
    expect((await edge.send('GET', '/api/move/destinations')).json).toEqual({
      destinations: [
        { backend: 'memory', context: 'lab', can: true },
        { backend: 'memory', context: 'other', can: false, reason: unreachable.message },
      ],
    });
  });

  test('take a container with its folder to another context, and start it there', async () => {
    await edge.close();
    edge = await new Edge(new MemoryBackend('lab'), new MemoryBackend('other')).open();
    await edge.send('GET', '/api/cts');
    const box = 'ct/lab/default/box';
    edge.lab.engine.disks.set(`${box} root`, Buffer.from('grüße'));
    expect((await edge.send('GET', '/api/move/destinations?kind=ct')).json).toEqual({
      destinations: ['lab', 'other'].map((context) => ({ backend: 'memory', context, can: true })),
    });
    expect((await edge.send('GET', '/api/move/destinations?kind=pod')).status).toBe(400);
    const request = { ref: box, name: 'moved', deleteSource: true };
    const { json: plan } = await preflight(request);
    expect(plan).toMatchObject({ ok: true, destination: 'ct/other/default/moved', estimatedDowntimeSeconds: 11 });
    const rehearsed = await move(request, '?dryRun=true');
    expect([rehearsed.status, rehearsed.json['steps']]).toEqual([200, plan['steps']]);
    const { status, json } = await move(request);
    expect(status).toBe(200);
    expect(await ended(json['task'] as string)).toMatchObject({ kind: 'move', status: 'done', error: '' });
    const list = (await edge.send('GET', '/api/cts')).json as unknown as { context: string; name: string }[];
    const found = list.filter(({ context, name }) => name === 'moved' || (context === 'lab' && name === 'box'));
    expect(found).toMatchObject([{ context: 'other', phase: 'Running' }]);
    expect(edge.other.engine.disks.get('ct/other/default/moved root')?.toString()).toBe('grüße');
  });

  test('have a preflight that answers 200, also with refusals', async () => {
    const { status, json } = await preflight({ ref: WEB });
    expect([status, json]).toMatchObject([200, { ok: true, source: WEB, destination: 'vm/other/default/web' }]);
    const refused = await preflight({ ref: WEB, mode: 'warm', name: 'twin', toContext: 'other' });
    expect([refused.status, refused.json['ok']]).toEqual([200, false]);
    expect(codes(refused.json)).toEqual(['MODE_NOT_SUPPORTED', 'ALREADY_EXISTS']);
    expect(codes((await preflight({ ref: WEB, mode: 'live' })).json)).toEqual(['MODE_NOT_SUPPORTED']);
  });

  test('estimate the downtime from a shutdown that a user requested before', async () => {
    const power = (action: string) => edge.send('POST', `/api/vms/default/db/${action}?context=lab`);
    const longest = async () => (await preflight({ ref: DB, mode: 'warm' })).json['maxDowntimeSeconds'];
    // A guest is given a minute to shut down.
    expect(await longest()).toBeGreaterThan(60);
    expect((await power('stop')).status).toBe(200);
    expect((await power('start')).status).toBe(200);
    expect(await longest()).toBeLessThan(30);
  });

  test('answer 409 with the list of the preflight when they are refused', async () => {
    const body = { ref: WEB, mode: 'warm', name: 'twin' };
    const { status, json } = await move(body);
    const { error, code, ...plan } = json;
    expect([status, code, error]).toEqual([409, 'MOVE_REFUSED', expect.stringContaining('warm move')]);
    expect(plan).toEqual((await preflight(body)).json);
    for (const refusal of (json as unknown as Plan).refusals)
      expect(Object.values(refusal).every((text) => text !== '')).toBe(true);
    expect((await edge.send('GET', '/api/tasks')).json).toEqual([]);
  });

  test('answer 200 with the task and the plan, and copy the VM with its tags and its folder', async () => {
    await edge.send('POST', '/api/folders', { path: 'prod' });
    await edge.send('POST', '/api/folders/members', { path: 'prod', ref: DB });
    await edge.send('POST', '/api/vms/default/db/tags', { tag: 'kept', on: true });
    const { status, json } = await move({ ref: DB, deleteSource: true });
    expect([status, json]).toMatchObject([
      200,
      { task: expect.stringMatching(/^move-db-/), plan: { ok: true, deleteSource: true } },
    ]);
    const task = await ended(json['task'] as string);
    expect(task).toMatchObject({ status: 'done', kind: 'move', ref: DB });
    const list = (await edge.send('GET', '/api/vms?q=db')).json as unknown as object[];
    expect(list).toMatchObject([{ context: 'other', status: 'Stopped', tags: ['kept'], folder: 'prod' }]);
  });

  test('copy a VM that runs, and stop it for its last changes only', async () => {
    const { status, json } = await move({ ref: DB, mode: 'warm' });
    expect([status, json]).toMatchObject([
      200,
      { plan: { mode: 'warm', estimatedDowntimeSeconds: expect.any(Number) } },
    ]);
    expect(await ended(json['task'] as string)).toMatchObject({
      status: 'done',
      steps: ['reserve', 'bulk', 'rounds', 'stop', 'rest', 'verify', 'commit', 'folder', 'release'].map((name) => ({
        name,
      })),
      result: { recopiedBytes: 0, promisedDowntimeSeconds: expect.any(Number), downtimeSeconds: expect.any(Number) },
    });
    const list = (await edge.send('GET', '/api/vms?q=db')).json as unknown as { context: string; status: string }[];
    expect(list.map(({ context, status: state }) => [context, state]).sort()).toEqual([
      ['lab', 'Stopped'],
      ['other', 'Stopped'],
    ]);
  });

  test('change nothing in a dry run', async () => {
    const { status, json } = await move({ ref: DB, deleteSource: true }, '?dryRun=true');
    expect([status, json]).toMatchObject([200, { ok: true, steps: expect.any(Array) }]);
    expect((await edge.send('GET', '/api/tasks')).json).toEqual([]);
    expect(edge.lab.engine.vm({ kind: 'vm', context: 'lab', namespace: 'default', name: 'db' }).status).toBe('Running');
  });

  test('end with an error that leaves the source running', async () => {
    const ingest = edge.other.require('diskIngest');
    ingest.commit = async () => {
      throw unreachable;
    };
    const { json } = await move({ ref: DB, deleteSource: true });
    expect(await ended(json['task'] as string)).toMatchObject({ status: 'error' });
    const list = (await edge.send('GET', '/api/vms?q=db')).json as unknown as object[];
    expect(list).toMatchObject([{ context: 'lab', status: 'Running' }]);
  });

  test.each([
    [400, {}],
    [400, { ref: 'web' }],
    [400, { ref: WEB, toBackend: undefined }],
    [400, { ref: WEB, toBackend: 'Not a kind' }],
    [400, { ref: WEB, toContext: '' }],
    [400, { ref: WEB, toNamespace: '..' }],
    [400, { ref: WEB, name: 'No Name' }],
    [400, { ref: WEB, mode: 'hot' }],
    [400, { ref: WEB, deleteSource: 'yes' }],
    [400, { ref: WEB, scratch: 5 }],
    [400, { ref: WEB, mapping: [] }],
    [400, { ref: WEB, mapping: { networks: { lan: 5 } } }],
    [400, { ref: WEB, mapping: { networks: { lan: '../x' } } }],
    [400, { ref: WEB, mapping: { colors: {} } }],
    [400, { ref: WEB, color: 'red' }],
  ])('answer %i to %j, and so does the preflight', async (status, body) => {
    for (const send of [preflight, move]) {
      const answer = await send(body);
      expect([answer.status, typeof answer.json.error]).toEqual([status, 'string']);
    }
  });

  test.each([undefined, 7, 'Not a kind'])('say in words what toBackend can be when it is %j', async (toBackend) => {
    for (const send of [preflight, move]) {
      const { status, json } = await send({ ref: WEB, toBackend });
      expect([status, json.error]).toEqual([
        400,
        'toBackend must be the kind of a context that GET /api/move/destinations lists, such as "kubevirt" or "libvirt".',
      ]);
    }
  });

  test('accept scratch in both of its forms, which have no effect', async () => {
    for (const scratch of [true, 'fast']) {
      const { json } = await preflight({ ref: WEB, scratch });
      expect(json['warnings']).toContainEqual(expect.stringContaining('scratch has no effect'));
    }
    expect((await preflight({ ref: WEB, scratch: false })).json['warnings']).toEqual([]);
  });

  test('are for administrators only', async () => {
    await edge.reopen({ SVC_ADMINS: 'ann' });
    for (const send of [preflight, move]) {
      const { status, json } = await send({ ref: WEB });
      expect([status, json.code]).toEqual([403, 'NOT_PERMITTED']);
    }
    expect((await edge.send('GET', '/api/move/destinations')).status).toBe(200);
  });
});
