import 'reflect-metadata';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Edge, type Reply } from '../testing/edge.js';

const as = (login: string) => ({ 'tailscale-user-login': login });
const ann = as('ann');
const oscar = as('oscar');

const CONFIG = `
admins: [ann]
roles:
  - { login: oscar, folder: a, role: operator }
  - { login: olga, folder: a, role: admin }
  - { login: vera, folder: a, role: viewer }
  - { login: otto, folder: /, role: operator }
  - { login: carl, context: lab, role: admin }
`;

describe('a new VM or container in a folder', () => {
  let edge: Edge;

  beforeAll(async () => {
    edge = new Edge();
    const file = join(edge.folder, 'roles.yaml');
    writeFileSync(file, CONFIG);
    await edge.open({}, ['--config', file]);
    for (const path of ['a/inner', 'ab', 'b']) await edge.send('POST', '/api/folders', { path }, ann);
    await edge.send('POST', '/api/folders/members', { path: 'a', ref: 'vm/lab/default/db' }, ann);
  });
  afterAll(() => edge.close());

  const create = (body: object, headers: Record<string, string> = oscar): Promise<Reply> =>
    edge.send('POST', '/api/vms', { image: 'tiny', ...body }, headers);
  const foldersOf = async (name: string): Promise<unknown> =>
    ((await edge.send('GET', '/api/vms', undefined, ann)).json as unknown as { name: string; folder?: string }[])
      .filter((one) => one.name === name)
      .map(({ folder }) => folder);

  test.each([
    ['oscar', 'a'],
    ['olga', 'a/inner'],
    ['otto', 'b'],
  ])('is created by %s in %s, and is theirs', async (login, folder) => {
    const name = `new-${login}`;
    const { status, json } = await create({ name, folder, namespace: 'default' }, as(login));
    expect([status, json.error]).toEqual([201, undefined]);
    expect(await foldersOf(name)).toEqual([folder]);
    expect((await edge.send('POST', `/api/vms/default/${name}/start`, {}, as(login))).status).toBe(200);
  });

  test.each([
    ['no folder', {}, 403],
    ['null', { folder: null }, 403],
    ['another folder', { folder: 'b' }, 403],
    ['a folder that begins with the name', { folder: 'ab' }, 403],
    ['another case', { folder: 'A' }, 403],
    ['a way out', { folder: 'a/../b' }, 400],
    ['a slash', { folder: '/a' }, 400],
    ['everything', { folder: '/' }, 400],
    ['no text', { folder: ['a'] }, 400],
    ['an empty text', { folder: '' }, 400],
    ['a volume of anyone', { folder: 'a', image: undefined, pvc: 'volume-1' }, 403],
    ['a build as root', { folder: 'a', image: undefined, bootc: 'quay.io/x/y' }, 403],
  ])('is refused with %s', async (_why, body, status) => {
    const reply = await create({ name: 'escaped', ...body });
    expect([reply.status, await foldersOf('escaped')]).toEqual([status, []]);
  });

  test.each([
    ['vera', 'a'],
    ['carl', 'a'],
    ['bob', 'a'],
  ])('is refused to %s, who has no role for it in %s', async (login, folder) => {
    expect((await create({ name: 'escaped', folder }, as(login))).status).toBe(403);
  });

  test('is refused in a folder that does not exist', async () => {
    expect((await create({ name: 'escaped', folder: 'a/none' })).json.code).toBe('FOLDER_NOT_FOUND');
  });

  test.each([
    ['in the folder', 'oscar', { folder: 'a' }, 'NOT_SUPPORTED'],
    ['in the folder, and says that it is not privileged', 'oscar', { folder: 'a', privileged: false }, 'NOT_SUPPORTED'],
    ['in the folder, with root on the node', 'oscar', { folder: 'a', privileged: true }, 'NOT_PERMITTED'],
    ['in another folder', 'oscar', { folder: 'b' }, 'NOT_PERMITTED'],
    ['in no folder', 'oscar', {}, 'NOT_PERMITTED'],
    ['with a role that only reads', 'vera', { folder: 'a' }, 'NOT_PERMITTED'],
    [
      'in the folder, with root on the node, by an administrator',
      'ann',
      { folder: 'a', privileged: true },
      'NOT_SUPPORTED',
    ],
  ])('has the same rules for a container: %s (%s)', async (_how, login, body, expected) => {
    // The backend of this test has no containers.
    const request = { name: 'escaped', image: 'nginx', namespace: 'default', ...body };
    expect((await edge.send('POST', '/api/cts', request, as(login))).json.code).toBe(expected);
  });

  test.each(['oscar', 'olga', 'otto'])('is the only thing that %s creates', async (login) => {
    const ref = 'vm/lab/default/db';
    const requests: readonly (readonly [string, string, object])[] = [
      ['POST', '/api/vms', { name: 'escaped', image: 'tiny' }],
      ['POST', '/api/cts', { name: 'escaped', image: 'nginx' }],
      ['POST', '/api/cts', { name: 'escaped', image: 'nginx', folder: 'b/none' }],
      ['POST', '/api/vms/default/db/clone', { target: 'escaped', folder: 'a' }],
      ['POST', '/api/move', { ref, toContext: 'other', folder: 'a' }],
      ['POST', '/api/datavolumes', { name: 'escaped', image: 'tiny', folder: 'a' }],
      ['POST', '/api/ext/sources', { name: 'escaped', folder: 'a' }],
      ['POST', '/api/ext/bulk', { action: 'migrate', refs: [ref], folder: 'a' }],
      ['POST', '/api/ext/bulk', { action: 'folder', folder: 'b', refs: [ref] }],
      ['DELETE', `/api/folders/members?ref=${ref}`, {}],
      ['POST', '/api/folders/members', { path: 'b', ref }],
    ];
    for (const [method, path, body] of requests) {
      const { status, json } = await edge.send(method, path, body, as(login));
      // Unknown routes and fields are refused before or after the rights.
      expect([path, status >= 400 && status < 500, json.error]).toEqual([path, true, json.error]);
    }
    expect(await foldersOf('escaped')).toEqual([]);
  });
});
