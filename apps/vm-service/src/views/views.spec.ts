import 'reflect-metadata';
import type { SavedViewView } from '@headgate/api-contracts';
import { Edge } from '../testing/edge.js';

const ann = { 'tailscale-user-login': 'ann' };
const bob = { 'tailscale-user-login': 'bob' };
const VIEWS = '/api/ext/views';

describe('/api/ext/views', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = await new Edge().open({ SVC_ADMINS: 'ann' });
  });
  afterEach(() => edge.close());

  const save = (name: string, more: object = {}, headers = ann) =>
    edge.send('POST', VIEWS, { name, address: '/vms?q=status:running', ...more }, headers);
  const update = (id: unknown, body: object, headers = ann) =>
    edge.send('PATCH', `${VIEWS}/${String(id)}`, body, headers);
  const views = async (headers = ann): Promise<SavedViewView[]> =>
    (await edge.send('GET', VIEWS, undefined, headers)).json as unknown as SavedViewView[];
  const names = async (headers = ann) => (await views(headers)).map(({ name }) => name);

  test('are of one user, also of one who may only read, and survive a restart', async () => {
    const { status, json } = await save('Running', { columns: ['name', 'folder'] });
    expect([status, json]).toEqual([
      201,
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        name: 'Running',
        address: '/vms?q=status:running',
        columns: ['name', 'folder'],
        savedAt: expect.any(String),
      },
    ]);
    expect((await save('Mine', {}, bob)).status).toBe(201);
    await edge.reopen({ SVC_ADMINS: 'ann' });
    expect([await names(), await names(bob)]).toEqual([['Running'], ['Mine']]);
    const path = `${VIEWS}/${String(json['id'])}`;
    expect((await edge.send('DELETE', path, undefined, bob)).json.code).toBe('VIEW_NOT_FOUND');
    expect((await update(json['id'], { name: 'Taken over' }, bob)).json.code).toBe('VIEW_NOT_FOUND');
    expect((await edge.send('DELETE', path, undefined, ann)).json).toEqual({ status: 'removed' });
    expect([await names(), await names(bob)]).toEqual([[], ['Mine']]);
  });

  test('are renamed, replaced and moved', async () => {
    for (const name of ['a', 'b', 'c']) await save(name);
    const [, , c] = await views();
    expect((await update(c?.id, { position: 0 })).status).toBe(200);
    expect(await names()).toEqual(['c', 'a', 'b']);
    expect(
      (await update(c?.id, { position: 99, name: 'd', address: '/containers', columns: null })).json,
    ).toMatchObject({
      name: 'd',
      address: '/containers',
      columns: null,
    });
    await edge.reopen({ SVC_ADMINS: 'ann' });
    expect(await names()).toEqual(['a', 'b', 'd']);
    await save('e');
    expect(await names()).toEqual(['a', 'b', 'd', 'e']);
  });

  test('have names that are unique for their user', async () => {
    await save('a');
    await save('b');
    const again = await save('a');
    expect([again.status, again.json.code]).toEqual([409, 'ALREADY_EXISTS']);
    const [, b] = await views();
    expect((await update(b?.id, { name: 'a' })).json.code).toBe('ALREADY_EXISTS');
    expect((await update(b?.id, { name: 'b' })).status).toBe(200);
    expect((await save('a', {}, bob)).status).toBe(201);
  });

  test.each([
    ['a name of spaces', { name: '  ' }],
    ['a name with a line break', { name: 'a\nb' }],
    ['a long name', { name: 'x'.repeat(61) }],
    ['an address of another site', { address: 'https://evil.example/' }],
    ['an address without a scheme', { address: '//evil.example/' }],
    ['an address with a backslash', { address: '/\\evil.example' }],
    ['a script', { address: 'javascript:alert(1)' }],
    ['a long address', { address: `/${'x'.repeat(4000)}` }],
    ['too many columns', { columns: Array.from({ length: 51 }, () => 'name') }],
    ['columns that are no texts', { columns: [1] }],
    ['an owner', { owner: 'bob' }],
  ])('refuse %s', async (_what, body) => {
    expect((await save('a', body)).status).toBe(400);
    expect(await views()).toEqual([]);
  });

  test('change nothing with a dry run, which has the refusals of the request', async () => {
    const id = String((await save('a')).json['id']);
    const before = await views();
    const plan = { steps: [expect.any(Object)], warnings: [], refusals: [] };
    const body = { name: 'b', address: '/vms' };
    expect((await edge.send('POST', `${VIEWS}?dryRun=true`, body, ann)).json).toEqual(plan);
    expect((await edge.send('PATCH', `${VIEWS}/${id}?dryRun=true`, body, ann)).json).toEqual(plan);
    expect((await edge.send('DELETE', `${VIEWS}/${id}?dryRun=true`, undefined, ann)).json).toEqual(plan);
    const taken = await edge.send('POST', `${VIEWS}?dryRun=true`, { ...body, name: 'a' }, ann);
    expect(taken.json.code).toBe('ALREADY_EXISTS');
    expect(await views()).toEqual(before);
  });

  test('are at most 50 of a user', async () => {
    for (let count = 0; count < 50; count++) expect((await save(`v${count}`)).status).toBe(201);
    const reply = await save('one more');
    expect([reply.status, reply.json.code]).toEqual([409, 'CONFLICT']);
    expect((await save('one more', {}, bob)).status).toBe(201);
  });

  test('are refused with an ID that is none', async () => {
    expect((await update('1', {})).status).toBe(400);
    expect((await update('00000000-0000-0000-0000-000000000000', {})).status).toBe(404);
  });
});
