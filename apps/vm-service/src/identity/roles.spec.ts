import 'reflect-metadata';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildVm, withStatus } from '@headgate/testing';
import { loadSettings } from '../config/load-config.js';
import { parseCommandLine } from '../config/command-line.js';
import { Edge } from '../testing/edge.js';

const DB = 'vm/lab/default/db';
const WEB = 'vm/lab/default/web';
const as = (login: string) => ({ 'tailscale-user-login': login });
const ann = as('ann');

const CONFIG = `
admins: [ann]
roles:
  - { login: vera, folder: prod, role: viewer }
  - { login: oscar, folder: prod, role: operator }
  - { login: olga, folder: prod, role: admin }
  - { login: olga, folder: test, role: viewer }
  - { login: otto, folder: prod, role: admin }
  - { login: otto, folder: test, role: admin }
  - { login: root, folder: /, role: admin }
`;

describe('roles per folder', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = new Edge();
    const file = join(edge.folder, 'roles.yaml');
    writeFileSync(file, CONFIG);
    await edge.open({}, ['--config', file]);
    for (const path of ['prod', 'prod/db', 'test']) await edge.send('POST', '/api/folders', { path }, ann);
    await edge.send('POST', '/api/folders/members', { path: 'prod/db', ref: DB }, ann);
    await edge.send('POST', '/api/folders/members', { path: 'test', ref: WEB }, ann);
  });

  afterEach(() => edge.close());

  const names = async (login: string): Promise<string[]> =>
    ((await edge.send('GET', '/api/vms', undefined, as(login))).json as unknown as { name: string }[]).map(
      ({ name }) => name,
    );

  test.each([
    ['ann', ['db', 'twin', 'web', 'twin']],
    ['root', ['db', 'twin', 'web', 'twin']],
    ['vera', ['db']],
    ['olga', ['db', 'web']],
    ['bob', []],
    ['', []],
  ])('show %s the instances of their folders', async (login, expected) => {
    expect(await names(login)).toEqual(expected);
  });

  test('do not reach a new VM that has the name of a member', async () => {
    const { ref } = edge.lab.engine.vm({ kind: 'vm', context: 'lab', namespace: 'default', name: 'db' });
    edge.lab.engine.remove(ref);
    edge.lab.engine.put(withStatus(buildVm({ ref, uid: 'uid-another' }), 'Running'));
    expect([await names('vera'), await names('olga')]).toEqual([[], ['web']]);
    for (const login of ['vera', 'oscar', 'olga']) {
      expect((await edge.send('GET', '/api/vms/default/db', undefined, as(login))).status).toBe(404);
      expect((await edge.send('POST', '/api/vms/default/db/stop', {}, as(login))).status).toBe(404);
    }
    expect(edge.lab.engine.vm(ref).status).toBe('Running');
  });

  test.each([
    ['vera', 'POST', '/api/vms/default/db/stop', 403],
    ['oscar', 'POST', '/api/vms/default/db/stop', 200],
    ['oscar', 'POST', '/api/vms/default/db/tags', 403],
    ['oscar', 'DELETE', '/api/vms/default/db', 403],
    ['oscar', 'POST', '/api/vms/default/web/stop', 404],
    ['olga', 'POST', '/api/vms/default/db/tags', 200],
    ['olga', 'POST', '/api/vms/default/web/tags', 403],
    ['root', 'POST', '/api/vms/default/web/tags', 200],
    ['bob', 'POST', '/api/vms/default/db/stop', 404],
  ])('%s: %s %s is %i', async (login, method, path, status) => {
    const body = path.endsWith('tags') ? { tag: 'a', on: true } : {};
    expect((await edge.send(method, path, body, as(login))).status).toBe(status);
  });

  test.each([
    // An instance moves with rights on both folders only.
    ['olga', 'POST', '/api/folders/members', { path: 'test', ref: DB }, 403],
    ['olga', 'POST', '/api/folders/members', { path: 'prod', ref: WEB }, 403],
    ['olga', 'POST', '/api/folders/members', { path: 'prod', ref: DB }, 200],
    ['otto', 'POST', '/api/folders/members', { path: 'prod', ref: WEB }, 200],
    // Outside of all folders, only rights everywhere count.
    ['otto', 'POST', '/api/folders/members', { path: 'prod', ref: 'vm/other/default/twin' }, 404],
    ['otto', 'DELETE', `/api/folders/members?ref=${DB}`, undefined, 403],
    ['otto', 'DELETE', '/api/folders?path=prod', undefined, 403],
    ['root', 'DELETE', `/api/folders/members?ref=${DB}`, undefined, 200],
    ['root', 'POST', '/api/folders/members', { path: 'prod', ref: 'vm/other/default/twin' }, 200],
    // So do folders.
    ['olga', 'POST', '/api/folders/move', { from: 'prod/db', to: 'test/db' }, 403],
    ['olga', 'POST', '/api/folders/move', { from: 'prod', to: 'live' }, 403],
    ['olga', 'POST', '/api/folders/move', { from: 'prod/db', to: 'prod/data' }, 200],
    ['otto', 'POST', '/api/folders/move', { from: 'prod/db', to: 'test/db' }, 200],
    ['olga', 'POST', '/api/folders', { path: 'prod/new' }, 200],
    ['olga', 'POST', '/api/folders', { path: 'new' }, 403],
    ['olga', 'POST', '/api/folders', { path: 'production' }, 403],
    ['oscar', 'POST', '/api/folders', { path: 'prod/new' }, 403],
    ['oscar', 'POST', '/api/folders/action', { path: 'prod', action: 'stop', recursive: true }, 200],
    ['vera', 'POST', '/api/folders/action', { path: 'prod', action: 'stop', recursive: true }, 403],
    ['oscar', 'POST', '/api/folders/action', { path: 'test', action: 'stop' }, 403],
    ['olga', 'POST', '/api/folders/members', { path: ['prod'], ref: DB }, 400],
    ['olga', 'POST', '/api/folders/members', { path: 'prod' }, 400],
    ['olga', 'POST', '/api/folders/members', undefined, 400],
  ])('%s: %s %s %j is %i', async (login, method, path, body, status) => {
    const { status: answered, json } = await edge.send(method, path, body, as(login));
    expect([answered, json.error]).toEqual([status, json.error]);
  });

  test('claim no volume that may be of others', async () => {
    const attach = async (login: string, body: object) =>
      (await edge.send('POST', '/api/vms/default/db/volumes?dryRun=true', body, as(login))).json.code;
    expect(await attach('olga', { pvc: 'volume-1' })).toBe('NOT_PERMITTED');
    expect(await attach('olga', { pvc: ['volume-1'] })).toBe('NOT_PERMITTED');
    expect([await attach('olga', { size: '1Gi' }), await attach('root', { pvc: 'volume-1' })]).not.toContain(
      'NOT_PERMITTED',
    );
    const insert = async (body: object) =>
      (await edge.send('POST', '/api/ext/vms/default/db/drives/sda', body, as('olga'))).json.code;
    expect([await insert({ pvc: 'iso' }), await insert({ pvc: null })]).toEqual([
      'NOT_PERMITTED',
      expect.not.stringMatching('NOT_PERMITTED'),
    ]);
  });

  test('hold for bulk tasks', async () => {
    const stop = (refs: string[]) => edge.send('POST', '/api/ext/bulk', { action: 'stop', refs }, as('oscar'));
    expect((await stop([DB, WEB])).status).toBe(403);
    expect((await stop([DB])).status).toBe(202);
    const remove = await edge.send('POST', '/api/ext/bulk', { action: 'delete', refs: [DB] }, as('oscar'));
    expect(remove.status).toBe(403);
  });

  test('let viewers watch a console, and operators type', async () => {
    const viewer = edge.socket('/api/tty/default/db', as('vera'));
    let seen = '';
    viewer.on('message', (data: Buffer) => (seen += String(data)));
    await once(viewer, 'open');
    viewer.send(Buffer.from('secret\n'));
    const operator = edge.socket('/api/tty/default/db', as('oscar'));
    await once(operator, 'open');
    operator.send(Buffer.from('hello\n'));
    while (!seen.includes('hello')) await once(viewer, 'message');
    expect(seen).not.toContain('secret');
    viewer.close();
    operator.close();
  });

  test('show secrets to administrators of the folder only', async () => {
    const userData = async (login: string) =>
      (await edge.send('GET', '/api/vms/default/db', undefined, as(login))).json['userData'];
    expect([await userData('vera'), await userData('oscar'), await userData('olga')]).toEqual([
      '***',
      '***',
      'password: secret',
    ]);
  });

  test('follow an instance that moves to another folder', async () => {
    await edge.send('POST', '/api/folders/members', { path: 'test', ref: DB }, ann);
    expect(await names('vera')).toEqual([]);
    expect((await edge.send('POST', '/api/vms/default/db/stop', {}, as('oscar'))).status).toBe(404);
  });

  test('show the folders of a caller, with those around them, and no others', async () => {
    const paths = async (login: string) =>
      (
        (await edge.send('GET', '/api/folders', undefined, as(login))).json as unknown as {
          folders: { path: string }[];
        }
      ).folders.map(({ path }) => path);
    expect([await paths('vera'), await paths('bob'), await paths('ann')]).toEqual([
      ['prod', 'prod/db'],
      [],
      ['prod', 'prod/db', 'test'],
    ]);
  });

  test('are in whoami', async () => {
    const whoami = async (login: string) => (await edge.send('GET', '/api/whoami', undefined, as(login))).json;
    expect(await whoami('olga')).toMatchObject({
      admin: true,
      enforced: true,
      roles: [
        { folder: 'prod', role: 'admin' },
        { folder: 'test', role: 'viewer' },
      ],
    });
    expect(await whoami('vera')).toMatchObject({ admin: false, roles: [{ folder: 'prod', role: 'viewer' }] });
    expect(await whoami('ann')).toEqual({ login: 'ann', name: '', admin: true, enforced: true, trust: 'users' });
    expect(await whoami('bob')).toMatchObject({ admin: false, roles: [] });
  });

  test.each([
    ['roles: [{ login: ann, folder: prod, role: owner }]', 'roles[0].role'],
    ['roles: [{ login: ann, folder: a//b, role: admin }]', 'roles[0].folder'],
    ['roles: [{ folder: /, role: admin }]', 'either a login, a group or a token'],
    ['roles: [{ login: ann, token: abcdefghij, folder: /, role: admin }]', 'either a login, a group or a token'],
    ['roles: [{ login: ann, group: x, folder: /, role: admin }]', 'either a login, a group or a token'],
    ['roles: [{ login: ann, folder: /, context: lab, role: admin }]', 'either a folder or a context'],
    ['roles: [{ login: ann, role: admin }]', 'either a folder or a context'],
    ['roles: [{ group: admins, folder: /, role: admin }]', 'make someone admin'],
    ['roles: [{ login: ann, folder: prod, role: admin }]', 'make someone admin'],
    ['roles: [{ login: ann, folder: /, role: viewer }]', 'make someone admin'],
    ['roles: [{ token: abcdefghij, folder: /, role: admin }]', 'make someone admin'],
    ['roles: [{ login: ann, folder: /, role: admin, extra: 1 }]', 'not a known key'],
    ['journal: { days: 0 }', 'journal.days'],
  ])('refuse the configuration %s', (text, problem) => {
    const file = join(edge.folder, 'wrong.yaml');
    writeFileSync(file, text);
    expect(() => loadSettings(parseCommandLine(['--config', file]), {})).toThrow(problem);
  });
});
