import 'reflect-metadata';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FleetAuditLog, RoleStore } from '@headgate/domain-contracts';
import { Edge, type Reply } from '../testing/edge.js';
import { openStream } from '../testing/open-stream.js';

const DB = 'vm/lab/default/db';
const as = (login: string, groups?: string) => ({
  'tailscale-user-login': login,
  ...(groups !== undefined && { 'x-groups': groups }),
});
const ann = as('ann');

const CONFIG = `
admins: [ann]
groupsHeader: X-Groups
roles:
  - { login: carl, folder: prod, role: viewer }
`;

interface View {
  id: string;
  source: string;
  subject: object;
  role: string;
  scope: object;
  void: boolean;
  version: number;
}

describe('roles that are assigned while the service runs', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = new Edge();
    const file = join(edge.folder, 'roles.yaml');
    writeFileSync(file, CONFIG);
    await edge.open({}, ['--config', file]);
    for (const path of ['prod', 'test']) await edge.send('POST', '/api/folders', { path }, ann);
    await edge.send('POST', '/api/folders/members', { path: 'prod', ref: DB }, ann);
  });
  afterEach(() => edge.close());

  const assign = (subject: object, role: string, scope?: object, query = ''): Promise<Reply> =>
    edge.send('POST', `/api/ext/roles${query}`, { subject, role, ...(scope && { scope }) }, ann);
  const created = async (subject: object, role: string, scope?: object): Promise<View> => {
    const { status, json } = await assign(subject, role, scope);
    expect([status, json.error]).toEqual([201, undefined]);
    return json as unknown as View;
  };
  const list = async (): Promise<View[]> =>
    (await edge.send('GET', '/api/ext/roles', undefined, ann)).json as unknown as View[];
  const names = async (headers: Record<string, string>): Promise<string[]> =>
    ((await edge.send('GET', '/api/vms', undefined, headers)).json as unknown as { name: string }[]).map(
      ({ name }) => name,
    );
  const stop = async (headers: Record<string, string>): Promise<number> =>
    (await edge.send('POST', '/api/vms/default/db/stop?dryRun=true', {}, headers)).status;

  test('are planned, assigned, changed, listed with their source, and removed', async () => {
    const planned = await assign({ user: 'bob' }, 'operator', { folder: 'prod' }, '?dryRun=true');
    expect([planned.status, planned.json['steps']]).toEqual([
      200,
      [{ name: 'assign role', detail: 'the user bob: operator in the folder prod' }],
    ]);
    expect([await list(), await names(as('bob'))]).toEqual([
      [expect.objectContaining({ source: 'configuration' })],
      [],
    ]);
    const role = await created({ user: 'bob' }, 'operator', { folder: 'prod' });
    expect(role).toMatchObject({ source: 'assigned', subject: { user: 'bob' }, void: false, version: 1 });
    expect([await names(as('Bob')), await stop(as('bob'))]).toEqual([['db'], 200]);

    const path = `/api/ext/roles/${role.id}`;
    expect((await edge.send('PATCH', `${path}?dryRun=true`, { role: 'viewer' }, ann)).json['steps']).toHaveLength(2);
    expect(await stop(as('bob'))).toBe(200);
    expect((await edge.send('PATCH', path, { role: 'viewer', version: 1 }, ann)).json).toMatchObject({ version: 2 });
    expect((await edge.send('PATCH', path, { role: 'admin', version: 1 }, ann)).status).toBe(409);
    expect(await stop(as('bob'))).toBe(403);

    expect((await edge.send('DELETE', `${path}?dryRun=true`, undefined, ann)).status).toBe(200);
    expect(await names(as('bob'))).toEqual(['db']);
    expect((await edge.send('DELETE', path, undefined, ann)).json).toEqual({ status: 'removed' });
    expect([await names(as('bob')), (await edge.send('DELETE', path, undefined, ann)).status]).toEqual([[], 404]);
    const recorded = edge.service.app.get(FleetAuditLog).find({ limit: 20 });
    expect(recorded.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['assign role', 'change role', 'remove role']),
    );
  });

  test('survive a restart', async () => {
    await created({ user: 'bob' }, 'viewer', { folder: 'prod' });
    await edge.reopen({}, ['--config', join(edge.folder, 'roles.yaml')]);
    expect(await names(as('bob'))).toEqual(['db']);
  });

  test.each([
    [{}, 'viewer', {}],
    [{ user: 'bob', group: 'staff' }, 'viewer', {}],
    [{ user: 'bob' }, 'owner', {}],
    [{ user: 'bob' }, 'viewer', { folder: 'prod', context: 'lab' }],
    [{ user: 'bob' }, 'viewer', { folder: 'prod/../test' }],
    [{ user: 'bob' }, 'viewer', { folder: '/' }],
    [{ user: ['bob'] }, 'viewer', {}],
    [{ user: null }, 'viewer', {}],
    [{ user: 'bob' }, 'viewer', { q: 'web' }],
  ])('are refused for %j as %s in %j', async (subject, role, scope) => {
    const { status, json } = await assign(subject, role, scope);
    expect([status, typeof json.error]).toEqual([400, 'string']);
    expect(await list()).toHaveLength(1);
  });

  test('of the configuration can not be changed', async () => {
    const [{ id }] = (await list()) as [View];
    const replies = [
      await edge.send('PATCH', `/api/ext/roles/${id}`, { role: 'admin' }, ann),
      await edge.send('DELETE', `/api/ext/roles/${id}`, undefined, ann),
    ];
    expect(replies.map(({ status }) => status)).toEqual([409, 409]);
  });

  test('of groups hold for those whose proxy reports the group, once and without a comma in it', async () => {
    await created({ group: 'Staff' }, 'operator', { folder: 'prod' });
    expect([await names(as('bob', 'a, staff ,b')), await names(as('bob', 'a'))]).toEqual([['db'], []]);
    expect([await names(as('staff')), await names({ 'x-groups': 'staff' })]).toEqual([[], []]);
    const twice = { ...as('bob'), 'x-groups': ['staff', 'staff'] } as unknown as Record<string, string>;
    expect(await names(twice)).toEqual([]);
    const whoami = await edge.send('GET', '/api/whoami', undefined, as('bob', 'staff'));
    expect(whoami.json).toMatchObject({ groups: ['staff'], roles: [{ folder: 'prod', role: 'operator' }] });
  });

  test('follow a folder that is moved, and end with it', async () => {
    await created({ user: 'bob' }, 'viewer', { folder: 'prod' });
    await edge.send('POST', '/api/folders/move', { from: 'prod', to: 'live' }, ann);
    expect(await names(as('bob'))).toEqual(['db']);
    // The configuration names the path, and means whichever folder has it.
    expect(await names(as('carl'))).toEqual([]);
    expect((await list())[1]).toMatchObject({ scope: { folder: 'live' }, void: false });
    await edge.send('DELETE', '/api/folders?path=live', undefined, ann);
    for (const path of ['prod', 'live']) await edge.send('POST', '/api/folders', { path }, ann);
    await edge.send('POST', '/api/folders/members', { path: 'live', ref: DB }, ann);
    expect(await names(as('bob'))).toEqual([]);
    expect((await list())[1]).toMatchObject({ scope: { folder: 'prod' }, void: true });
  });

  test('in a context show its instances only', async () => {
    await created({ user: 'bob' }, 'viewer', { context: 'other' });
    expect(await names(as('bob'))).toEqual(['twin']);
    expect((await assign({ user: 'eve' }, 'viewer', { context: 'none' })).json.code).toBe('CONTEXT_NOT_FOUND');
  });

  test('close the streams and consoles of those who lose them, and of no other', async () => {
    const role = await created({ user: 'bob' }, 'operator', { folder: 'prod' });
    await created({ group: 'staff' }, 'operator', { folder: 'prod' });
    const stream = await openStream(edge, as('bob'));
    const kept = await openStream(edge, as('eve', 'staff'));
    await stream.until('event: snapshot');
    await kept.until('event: snapshot');
    const tty = edge.socket('/api/tty/default/db', as('bob'));
    const other = edge.socket('/api/tty/default/db', as('eve', 'staff'));
    await Promise.all([once(tty, 'open'), once(other, 'open')]);
    const closed = once(tty, 'close');
    await edge.send('DELETE', `/api/ext/roles/${role.id}`, undefined, ann);
    expect((await closed)[0]).toBe(1008);
    await stream.ended;
    await edge.send('POST', '/api/vms/default/db/tags', { tag: 'later', on: true }, ann);
    await kept.until('"later"');
    expect(other.readyState).toBe(other.OPEN);
    other.close();
    kept.close();
  });

  test('close a console that may be typed into when only watching is left, and keep one for watching', async () => {
    const role = await created({ user: 'bob' }, 'operator', { folder: 'prod' });
    const viewer = edge.socket('/api/tty/default/db', as('carl'));
    const typist = edge.socket('/api/tty/default/db', as('bob'));
    await Promise.all([once(viewer, 'open'), once(typist, 'open')]);
    const closed = once(typist, 'close');
    await edge.send('PATCH', `/api/ext/roles/${role.id}`, { role: 'viewer' }, ann);
    expect((await closed)[0]).toBe(1008);
    expect(viewer.readyState).toBe(viewer.OPEN);
    viewer.close();
  });

  test('close a console when its VM leaves the folder', async () => {
    const viewer = edge.socket('/api/tty/default/db', as('carl'));
    await once(viewer, 'open');
    const closed = once(viewer, 'close');
    await edge.send('POST', '/api/folders/members', { path: 'test', ref: DB }, ann);
    expect((await closed)[0]).toBe(1008);
  });

  test('are refused while they can not be stored, and nothing changes', async () => {
    const store = edge.service.app.get(RoleStore);
    store.add = () => Promise.reject(new Error('disk full'));
    expect((await assign({ user: 'bob' }, 'admin')).status).toBe(500);
    expect([(await list()).length, await names(as('bob'))]).toEqual([1, []]);
  });
});

describe('who may do this', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = new Edge();
    const file = join(edge.folder, 'roles.yaml');
    writeFileSync(file, CONFIG);
    await edge.open({}, ['--config', file]);
    await edge.send('POST', '/api/folders', { path: 'prod' }, ann);
    await edge.send('POST', '/api/folders/members', { path: 'prod', ref: DB }, ann);
  });
  afterEach(() => edge.close());

  const ask = (query: string, headers = ann): Promise<Reply> =>
    edge.send('GET', `/api/ext/access?${query}`, undefined, headers);
  const answerTo = async (action: string, query: string, headers = ann): Promise<Record<string, unknown> | undefined> =>
    ((await ask(query, headers)).json['answers'] as Record<string, unknown>[]).find((one) => one['action'] === action);

  test('names the role, the allowlist or the refusal', async () => {
    const body = { subject: { group: 'staff' }, role: 'operator', scope: { folder: 'prod' } };
    const { id } = (await edge.send('POST', '/api/ext/roles', body, ann)).json as unknown as { id: string };
    const vm = 'kind=vm&ns=default&name=db';
    expect(await answerTo('power', `group=staff&${vm}`)).toMatchObject({ allowed: true, by: 'role', role: { id } });
    expect(await answerTo('read', `user=carl&${vm}`)).toMatchObject({ role: { source: 'configuration' } });
    expect(await answerTo('delete', `user=carl&${vm}`)).toMatchObject({ allowed: false, by: 'role' });
    expect((await answerTo('delete', `user=carl&${vm}`))?.['refusal']).toContain('no right to delete db');
    expect(await answerTo('delete', `user=ANN&${vm}`)).toMatchObject({ allowed: true, by: 'allowlist' });
    expect(await answerTo('create', 'group=staff&folder=prod')).toMatchObject({ allowed: true });
    expect(await answerTo('create', 'group=staff')).toMatchObject({ allowed: false });
    expect((await ask(`user=carl&${vm}`)).json).toMatchObject({ user: 'carl', object: DB });
  });

  test('is answered to users about themselves, with their groups, and to administrators about all', async () => {
    const body = { subject: { group: 'staff' }, role: 'viewer', scope: { folder: 'prod' } };
    await edge.send('POST', '/api/ext/roles', body, ann);
    const vm = 'ns=default&name=db';
    expect(await answerTo('read', vm, as('bob', 'staff'))).toMatchObject({ allowed: true });
    expect((await ask(`user=carl&${vm}`, as('bob', 'staff'))).status).toBe(403);
    expect((await ask('group=staff', as('bob', 'staff'))).status).toBe(403);
    // An instance that they may not read does not exist for them.
    expect((await ask('ns=default&name=web', as('bob', 'staff'))).status).toBe(404);
    expect((await ask('ns=default&name=db', as('bob'))).status).toBe(404);
  });

  test.each(['user=a&group=b', 'ns=default', 'name=db', 'ns=default&name=db&folder=prod', 'folder=a/../b'])(
    'is refused as %s',
    async (query) => expect((await ask(query)).status).toBe(400),
  );
});
