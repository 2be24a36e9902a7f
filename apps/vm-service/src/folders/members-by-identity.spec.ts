import 'reflect-metadata';
import { buildVm, withStatus } from '@headgate/testing';
import { MetricsSnapshot } from '../exposition/metrics-snapshot.js';
import { unreachable, Edge, type Reply } from '../testing/edge.js';

const ann = { 'tailscale-user-login': 'ann' };
const WEB = 'vm/lab/default/web';

interface Folder {
  path: string;
  counts: { members: number; missing: number };
  members: { ref: string }[];
  missing: string[];
}

describe('a member of a folder', () => {
  let edge: Edge;
  let token: Record<string, string>;

  beforeEach(async () => {
    edge = await new Edge().open({ SVC_ADMINS: 'ann' }, ['--metrics']);
    for (const path of ['prod', 'test']) await edge.send('POST', '/api/folders', { path }, ann);
    await add('prod', WEB);
    const body = { name: 'ci', actions: ['power', 'change', 'delete'], scope: { folder: 'prod' } };
    const { json } = await edge.send('POST', '/api/ext/tokens', body, ann);
    token = { authorization: `Bearer ${String(json['token'])}` };
  });

  afterEach(() => edge.close());

  const add = (path: string, ref: string): Promise<Reply> =>
    edge.send('POST', '/api/folders/members', { path, ref }, ann);
  const folder = async (path = 'prod'): Promise<Folder> => {
    const { json } = await edge.send('GET', '/api/folders', undefined, ann);
    return (json['folders'] as Folder[]).find((one) => one.path === path)!;
  };
  const names = async (query = ''): Promise<string[]> =>
    ((await edge.send('GET', `/api/vms${query}`, undefined, token)).json as unknown as { name: string }[]).map(
      ({ name }) => name,
    );
  const web = (uid: string) => withStatus(buildVm({ ref: { context: 'lab', name: 'web' }, uid }), 'Stopped');
  /** Another program deletes the VM and creates another one of its name. */
  const replace = (): void => {
    edge.lab.engine.remove(web('').ref);
    edge.lab.engine.put(web('uid-another'));
  };

  test('is not the new instance of its name, which no token of the folder reaches', async () => {
    expect(await names()).toEqual(['web']);
    replace();
    expect(await names()).toEqual([]);
    for (const [method, path] of [
      ['GET', '/api/vms/default/web'],
      ['GET', '/api/vms/default/web/events'],
      ['POST', '/api/vms/default/web/start'],
      ['DELETE', '/api/vms/default/web'],
    ] as const)
      expect([method, path, (await edge.send(method, path, undefined, token)).status]).toEqual([method, path, 404]);
    const bulk = await edge.send('POST', '/api/ext/bulk', { action: 'start', refs: [WEB] }, token);
    expect(bulk.status).toBe(403);
    expect(await folder()).toMatchObject({ members: [], missing: [WEB], counts: { members: 0, missing: 1 } });
    expect((await edge.send('GET', '/api/vms?folder=prod', undefined, ann)).json).toEqual([]);
    expect(edge.lab.engine.vm(web('').ref).status).toBe('Stopped');
  });

  test('is the only one with the pool of the folder in the metrics', async () => {
    replace();
    const text = async (): Promise<string> => (await edge.send('GET', '/metrics', undefined, ann)).body;
    await edge.service.app.get(MetricsSnapshot, { strict: false }).refresh();
    expect(await text()).toContain('svc_pool_instances{pool="prod"} 0');
    expect(await text()).toMatch(/svc_instance_running\{name="web",.*pool=""\} 0/);
  });

  test('is member again when the same object comes back', async () => {
    const before = edge.lab.engine.vm(web('').ref);
    replace();
    edge.lab.engine.remove(before.ref);
    expect((await folder()).missing).toEqual([WEB]);
    edge.lab.engine.put(before);
    expect(await names()).toEqual(['web']);
    expect(await folder()).toMatchObject({ members: [{ ref: WEB }], missing: [] });
  });

  test('ends with its deletion by the service', async () => {
    expect((await edge.send('DELETE', '/api/vms/default/web', undefined, token)).status).toBe(200);
    expect(await folder()).toMatchObject({ members: [], missing: [], counts: { members: 0, missing: 0 } });
    edge.lab.engine.put(web('uid-another'));
    expect(await names()).toEqual([]);
    await edge.reopen({ SVC_ADMINS: 'ann' });
    expect(await folder()).toMatchObject({ missing: [], counts: { missing: 0 } });
  });

  test('stays when its deletion is refused, and is missing when another program deletes it then', async () => {
    edge.lab.engine.put({ ...edge.lab.engine.vm(web('').ref), protected: true });
    expect((await edge.send('DELETE', '/api/vms/default/web', undefined, ann)).status).toBe(409);
    expect(await names()).toEqual(['web']);
    edge.lab.engine.remove(web('').ref);
    expect((await folder()).missing).toEqual([WEB]);
  });

  test('is a member again after its context was lost, and after a restart', async () => {
    edge.lab.engine.disconnect(unreachable);
    expect((await folder()).members).toHaveLength(1);
    edge.lab.engine.reconnect();
    await edge.reopen({ SVC_ADMINS: 'ann' });
    await edge.send('GET', '/api/vms', undefined, ann);
    expect(await names()).toEqual(['web']);
  });

  test('that is missing is not hidden by a new instance of its name in another folder', async () => {
    replace();
    await add('test', WEB);
    expect([await folder('prod'), await folder('test')]).toMatchObject([
      { members: [], missing: [WEB] },
      { members: [{ ref: WEB }], missing: [] },
    ]);
    const remove = (query: string) => edge.send('DELETE', `/api/folders/members?ref=${WEB}${query}`, undefined, ann);
    expect((await remove('&missing=true')).status).toBe(200);
    expect((await remove('&missing=true')).status).toBe(404);
    expect([await folder('prod'), await folder('test')]).toMatchObject([{ missing: [] }, { members: [{ ref: WEB }] }]);
    expect((await remove('')).status).toBe(200);
    expect((await folder('test')).members).toEqual([]);
  });

  test('is replaced by a new instance of its name that is put into the same folder', async () => {
    replace();
    expect((await add('prod', WEB)).status).toBe(200);
    expect(await folder()).toMatchObject({ members: [{ ref: WEB }], missing: [] });
    expect(await names()).toEqual(['web']);
  });

  test('is the only one that an action of the folder reaches', async () => {
    replace();
    const { json } = await edge.send('POST', '/api/folders/action', { path: 'prod', action: 'start' }, ann);
    expect(json).toMatchObject({ ok: 0, failed: 1, members: [{ ref: WEB, ok: false }] });
    expect(edge.lab.engine.vm(web('').ref).status).toBe('Stopped');
  });

  test.each(['a b', "u'; DROP TABLE folder;--", 'ü/%2F\n', 'x'.repeat(300)])(
    'keeps its place when its ID is %j',
    async (uid) => {
      edge.lab.engine.put(web(uid));
      expect(await names()).toEqual([]);
      await add('prod', WEB);
      expect(await names()).toEqual(['web']);
      await edge.reopen({ SVC_ADMINS: 'ann' });
      await edge.send('GET', '/api/vms', undefined, ann);
      expect(await names()).toEqual(['web']);
    },
  );
});
