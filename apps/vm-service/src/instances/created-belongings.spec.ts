import 'reflect-metadata';
import { Edge } from '../testing/edge.js';

const BODY = { name: 'new', image: 'tiny', folder: 'prod/web', tags: ['blue', 'Green.1'] };
const MAX_TURNS = 20_000;

describe('a VM that is created with a network, a storage, a folder and tags', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = await new Edge().open();
    await edge.send('POST', '/api/folders', { path: 'prod/web' });
  });

  afterEach(() => edge.close());

  const list = async () => (await edge.send('GET', '/api/vms?q=new')).json as unknown as Record<string, unknown>[];
  const folders = async () => (await edge.send('GET', '/api/folders')).json;

  test('has them', async () => {
    const body = { ...BODY, network: 'lan-2', storageClass: 'storage-2' };
    expect((await edge.send('POST', '/api/vms', body)).json).not.toHaveProperty('warnings');
    expect(await list()).toMatchObject([{ folder: 'prod/web', tags: ['Green.1', 'blue'] }]);
    const { json } = await edge.send('GET', '/api/ext/vms/tailvm/new/hardware');
    expect(json).toMatchObject({ nics: [{ nad: 'lan-2' }] });
  });

  test('reports them in its plan', async () => {
    const { json } = await edge.send('POST', '/api/vms?dryRun=true', BODY);
    expect(json['steps']).toEqual(
      expect.arrayContaining([
        { name: 'tag', detail: 'Tag new with blue, Green.1.' },
        { name: 'folder', detail: 'Put new into the folder prod/web.' },
      ]),
    );
    expect(await list()).toEqual([]);
  });

  test.each([
    ['network', { network: 'none' }, 400, 'INVALID_INPUT'],
    ['storageClass', { storageClass: 'none' }, 400, 'INVALID_INPUT'],
    ['folder', { folder: 'prod/none' }, 404, 'FOLDER_NOT_FOUND'],
    ['folder', { folder: '/x' }, 400, 'INVALID_INPUT'],
    ['tags', { tags: ['a', 'a'] }, 400, 'INVALID_INPUT'],
    ['tags', { tags: ['a b'] }, 400, 'INVALID_INPUT'],
    ['network', { network: 7 }, 400, 'INVALID_INPUT'],
  ])('is refused for its %s, in %j, and leaves nothing', async (field, change, status, code) => {
    const before = await folders();
    const reply = await edge.send('POST', '/api/vms', { ...BODY, ...change });
    expect([reply.status, reply.json['code'], String(reply.json['error'])]).toEqual([
      status,
      code,
      expect.stringMatching(field),
    ]);
    expect(await list()).toEqual([]);
    expect(await folders()).toEqual(before);
  });

  test('leaves the folder when its creation is undone', async () => {
    const provisioning = edge.lab.require('provisioning');
    const create = provisioning.create.bind(provisioning);
    provisioning.create = async (spec) => {
      await create(spec);
      return {
        remaining: async () => {
          edge.lab.engine.remove(spec.ref);
          throw new Error('The disk could not be filled.');
        },
      };
    };
    const before = await folders();
    await edge.send('POST', '/api/vms', BODY);
    const isAsBefore = async () => JSON.stringify(await folders()) === JSON.stringify(before);
    for (let turn = 0; turn < MAX_TURNS && !(await isAsBefore()); turn++)
      await new Promise((resolve) => setImmediate(resolve));
    expect([await isAsBefore(), await list()]).toEqual([true, []]);
  });

  test('exists once, in the folder once, when two requests create it at the same time', async () => {
    const replies = await Promise.all([1, 2].map(() => edge.send('POST', '/api/vms', BODY)));
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 409]);
    const { json } = await edge.send('GET', '/api/folders');
    const [, web] = json['folders'] as { members: { name: string }[] }[];
    expect(web?.members.map(({ name }) => name)).toEqual(['new']);
  });

  test('needs the right to change instances in the folder', async () => {
    const created = await edge.send('POST', '/api/ext/tokens', { name: 'ci', actions: ['read', 'create'] });
    const headers = { authorization: `Bearer ${String(created.json['token'])}` };
    const refused = await edge.send('POST', '/api/vms', BODY, headers);
    expect([refused.status, refused.json['code']]).toEqual([403, 'NOT_PERMITTED']);
    const { folder: _folder, ...without } = BODY;
    expect((await edge.send('POST', '/api/vms', without, headers)).status).toBe(201);
  });
});
