import 'reflect-metadata';
import { unreachable, Edge } from '../testing/edge.js';

const WEB = 'vm/lab/default/web';
const DB = 'vm/lab/default/db';
const TWIN = 'vm/other/default/twin';

interface Tree {
  folders: {
    path: string;
    parent: string | null;
    counts: { members: number; running: number; missing: number };
    members?: { ref: string; folder: string }[];
    missing?: string[];
  }[];
  unfoldered?: { ref: string }[];
  errors: Record<string, string>;
}

describe('folders', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = await new Edge().open();
  });

  afterEach(() => edge.close());

  const tree = async (query = ''): Promise<Tree> =>
    (await edge.send('GET', `/api/folders${query}`)).json as unknown as Tree;
  const create = (path: string) => edge.send('POST', '/api/folders', { path });
  const add = (path: string, ref: string) => edge.send('POST', '/api/folders/members', { path, ref });
  const folderOf = async (name: string, kind = 'vms'): Promise<unknown> => {
    const list = (await edge.send('GET', `/api/${kind}`)).json as unknown as { name: string; folder?: string }[];
    return list.find((one) => one.name === name)?.folder;
  };

  test('begin with no folder, and every instance outside', async () => {
    const { folders, unfoldered = [], errors } = await tree();
    expect([folders, errors]).toEqual([[], {}]);
    expect(unfoldered.map(({ ref }) => ref)).toEqual(
      expect.arrayContaining([WEB, DB, TWIN, expect.stringMatching(/^ct\/lab\//)]),
    );
  });

  test('hold VMs and containers of several contexts', async () => {
    expect((await create('prod/web')).status).toBe(200);
    expect((await create('prod/web')).status).toBe(409);
    expect((await add('prod/web', WEB)).json).toEqual({ path: 'prod/web', ref: WEB });
    await add('prod/web', TWIN);
    const box = (await tree()).unfoldered?.find(({ ref }) => ref.startsWith('ct/'))?.ref ?? '';
    await add('prod', box);
    const { folders, unfoldered = [] } = await tree();
    expect(folders.map(({ path, parent }) => [path, parent])).toEqual([
      ['prod', null],
      ['prod/web', 'prod'],
    ]);
    expect(folders.map(({ members = [] }) => members.map(({ ref }) => ref))).toEqual([[box], [WEB, TWIN]]);
    expect(folders[1]).toMatchObject({ counts: { members: 2, running: 0, missing: 0 }, missing: [] });
    expect(unfoldered.map(({ ref }) => ref)).not.toContain(WEB);
    expect(await folderOf('web')).toBe('prod/web');
    expect(await folderOf('box', 'cts')).toBe('prod');
  });

  test('show an instance in its folder after a restart of the service', async () => {
    await create('prod');
    await add('prod', WEB);
    await edge.reopen();
    await edge.send('GET', '/api/vms');
    expect(await folderOf('web')).toBe('prod');
    expect((await tree()).folders[0]?.counts.members).toBe(1);
  });

  test('have an instance in one of them at most', async () => {
    await create('a');
    await create('b');
    await add('a', WEB);
    await add('b', WEB);
    expect((await tree('?summary=true')).folders.map(({ counts }) => counts.members)).toEqual([0, 1]);
    const removed = await edge.send('DELETE', `/api/folders/members?ref=${WEB}`);
    expect(removed.json).toEqual({ status: 'unfoldered', ref: WEB });
    expect(await folderOf('web')).toBeUndefined();
    expect((await edge.send('DELETE', `/api/folders/members?ref=${WEB}`)).status).toBe(404);
  });

  test('are counted without their instances', async () => {
    await create('prod');
    await add('prod', DB);
    expect(await tree('?summary=true')).toEqual({
      folders: [{ path: 'prod', parent: null, counts: { members: 1, running: 1, missing: 0 } }],
      errors: {},
    });
  });

  test('move with everything in them', async () => {
    await create('prod/db');
    await add('prod/db', DB);
    expect((await edge.send('POST', '/api/folders/move', { from: 'prod', to: 'live/eu' })).json).toEqual({
      path: 'live/eu',
    });
    expect((await tree()).folders.map(({ path }) => path)).toEqual(['live', 'live/eu', 'live/eu/db']);
    expect(await folderOf('db')).toBe('live/eu/db');
  });

  test('lose their members and never delete them', async () => {
    await create('prod/db');
    await create('production');
    await add('prod/db', DB);
    await add('production', WEB);
    expect((await edge.send('DELETE', '/api/folders?path=prod')).json).toEqual({ status: 'removed' });
    expect((await tree()).folders.map(({ path }) => path)).toEqual(['production']);
    expect([await folderOf('db'), await folderOf('web')]).toEqual([undefined, 'production']);
    expect((await edge.send('GET', '/api/vms/default/db')).status).toBe(200);
  });

  test('keep a member that another program has deleted as missing, until it is removed', async () => {
    await create('prod');
    await add('prod', WEB);
    edge.lab.engine.remove({ kind: 'vm', context: 'lab', namespace: 'default', name: 'web' });
    expect((await tree()).folders[0]).toMatchObject({ members: [], missing: [WEB], counts: { missing: 1 } });
    expect((await edge.send('DELETE', `/api/folders/members?ref=${WEB}`)).status).toBe(200);
    expect((await tree()).folders[0]?.missing).toEqual([]);
  });

  test('filter the list, with the folders in them', async () => {
    await create('prod/db');
    await create('production');
    await add('prod', WEB);
    await add('prod/db', DB);
    await add('production', TWIN);
    const filtered = (await edge.send('GET', '/api/vms?folder=prod')).json as unknown as { ref: string }[];
    expect(filtered.map(({ ref }) => ref)).toEqual([DB, WEB]);
    const found = (await edge.send('GET', '/api/vms?q=production')).json as unknown as { ref: string }[];
    expect(found.map(({ ref }) => ref)).toEqual([TWIN]);
  });

  test('run an action on every member and report each of them', async () => {
    await create('prod');
    await add('prod', WEB);
    await add('prod', DB);
    const { json } = await edge.send('POST', '/api/folders/action', { path: 'prod', action: 'start' });
    expect(json).toEqual({
      path: 'prod',
      action: 'start',
      ok: 1,
      failed: 0,
      skipped: 1,
      members: [
        { ref: DB, name: 'db', ok: true, skipped: 'The VM is running.' },
        { ref: WEB, name: 'web', ok: true },
      ],
    });
    await edge.send('POST', '/api/folders/action', { path: 'prod', action: 'pause' });
    const resumed = await edge.send('POST', '/api/folders/action', { path: 'prod', action: 'resume' });
    expect(resumed.json).toMatchObject({ action: 'unpause', ok: 2 });
  });

  test('report the members of a lost context as failed, and the context as an error', async () => {
    await create('prod');
    await add('prod', WEB);
    await add('prod', TWIN);
    edge.lab.engine.disconnect(unreachable);
    const { json } = await edge.send('POST', '/api/folders/action', { path: 'prod', action: 'start' });
    expect(json).toMatchObject({
      ok: 1,
      failed: 1,
      members: [{ ok: false, error: expect.stringContaining('lab') }, {}],
    });
    const { errors, folders } = await tree();
    expect(errors).toEqual({ lab: unreachable.message });
    expect(folders[0]?.counts.members).toBe(2);
  });

  test.each([
    ['POST', '/api/folders?dryRun=true', { path: 'x' }],
    ['POST', '/api/folders/move?dryRun=true', { from: 'prod', to: 'live' }],
    ['POST', '/api/folders/members?dryRun=true', { path: 'prod', ref: DB }],
    ['POST', '/api/folders/action?dryRun=true', { path: 'prod', action: 'stop' }],
    ['DELETE', '/api/folders?path=prod&dryRun=true', undefined],
    ['DELETE', `/api/folders/members?ref=${WEB}&dryRun=true`, undefined],
  ])('are left alone by %s %s', async (method, path, body) => {
    await create('prod');
    await add('prod', WEB);
    const before = await tree();
    const { status, json } = await edge.send(method, path, body);
    // Earlier requests may have been measured.
    const { seconds: _seconds, ...plan } = json;
    expect([status, Object.keys(plan)]).toEqual([200, ['steps', 'warnings', 'refusals']]);
    expect(await tree()).toEqual(before);
  });

  test.each([
    [400, 'POST', '/api/folders', { path: 'a/b/c/d/e/f/g/h/i' }],
    [400, 'POST', '/api/folders', { path: 'a//b' }],
    [400, 'POST', '/api/folders', { path: '../etc' }],
    [400, 'POST', '/api/folders', { path: '' }],
    [400, 'POST', '/api/folders', {}],
    [400, 'POST', '/api/folders', { path: 'a', color: 'red' }],
    [400, 'POST', '/api/folders/move', { from: 'prod', to: 'prod/inner' }],
    [400, 'POST', '/api/folders/move', { from: 'prod', to: 'test' }],
    [404, 'POST', '/api/folders/move', { from: 'none', to: 'some' }],
    [404, 'POST', '/api/folders/members', { path: 'none', ref: WEB }],
    [404, 'POST', '/api/folders/members', { path: 'prod', ref: 'vm/lab/default/none' }],
    [404, 'POST', '/api/folders/members', { path: 'prod', ref: 'vm/none/default/web' }],
    [400, 'POST', '/api/folders/members', { path: 'prod', ref: 'web' }],
    [400, 'POST', '/api/folders/members', { path: 'prod', ref: 'vm/lab/..%2f/web' }],
    [400, 'POST', '/api/folders/action', { path: 'prod', action: 'explode' }],
    [400, 'POST', '/api/folders/action', { path: 'prod', action: 'start', recursive: 'yes' }],
    [404, 'POST', '/api/folders/action', { path: 'none', action: 'start' }],
    [404, 'DELETE', '/api/folders?path=none', undefined],
    [400, 'DELETE', '/api/folders', undefined],
    [400, 'DELETE', '/api/folders/members?ref=web', undefined],
    [400, 'GET', '/api/vms?folder=a//b', undefined],
    [400, 'GET', '/api/folders?summary=yes', undefined],
  ])('answer %i to %s %s %j', async (status, method, path, body) => {
    await create('prod');
    await create('test');
    const before = await tree();
    const refused = await edge.send(method, path, body);
    expect([refused.status, typeof refused.json.error]).toEqual([status, 'string']);
    expect(await tree()).toEqual(before);
  });

  test('are changed by administrators only', async () => {
    await edge.reopen({ SVC_ADMINS: 'ann' });
    expect((await create('prod')).status).toBe(403);
    expect((await edge.send('GET', '/api/folders')).status).toBe(200);
  });

  test('label the series of their instances', async () => {
    await create('prod');
    await create('empty');
    await add('prod', DB);
    await edge.reopen({}, ['--metrics']);
    await edge.send('GET', '/api/vms');
    const text = async (): Promise<string> => (await edge.send('GET', '/metrics')).body;
    for (let tries = 0; tries < 100 && !/^svc_collection_success 1$/m.test(await text()); tries++);
    const metrics = await text();
    expect(metrics).toContain('svc_pool_instances{pool="prod"} 1');
    expect(metrics).toContain('svc_pool_running{pool="prod"} 1');
    expect(metrics).toContain('svc_pool_instances{pool="empty"} 0');
    expect(metrics).toMatch(/svc_instance_running\{name="db",.*pool="prod"\} 1/);
  });
});
