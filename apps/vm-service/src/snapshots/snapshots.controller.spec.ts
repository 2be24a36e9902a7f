import 'reflect-metadata';
import { Edge } from '../testing/edge.js';

describe('the snapshots of a VM', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = await new Edge().open();
  });

  afterEach(() => edge.close());

  const vms = '/api/vms/default';

  test('are created with a given or an automatic name, listed, restored and deleted', async () => {
    const given = await edge.send('POST', `${vms}/web/snapshots`, { name: 'before-upgrade' });
    expect([given.status, given.json]).toEqual([200, { name: 'before-upgrade' }]);
    const automatic = await edge.send('POST', `${vms}/web/snapshots`);
    expect(automatic.json['name']).toMatch(/^web-\d{17}$/);
    const list = await edge.send('GET', `${vms}/web/snapshots`);
    expect(list.json).toMatchObject([
      { name: 'before-upgrade', phase: 'Succeeded', ready: true, creationTime: expect.stringMatching(/^\d{4}-/) },
      { name: automatic.json['name'] },
    ]);
    const restored = await edge.send('POST', `${vms}/web/snapshots/before-upgrade/restore`);
    expect([restored.status, restored.json]).toEqual([
      200,
      { status: 'restoring', task: expect.stringMatching(/^restore-web-/) },
    ]);
    expect((await edge.send('GET', `/api/tasks/${String(restored.json['task'])}`)).json).toMatchObject({
      kind: 'restore',
      ref: 'vm/lab/default/web',
    });
    const deleted = await edge.send('DELETE', `${vms}/web/snapshots/before-upgrade`);
    expect([deleted.status, deleted.json]).toEqual([200, { status: 'deleted' }]);
    expect((await edge.send('GET', `${vms}/web/snapshots`)).json).toMatchObject([{ name: automatic.json['name'] }]);
  });

  test('save the memory of a running VM on request', async () => {
    await edge.send('POST', `${vms}/web/start`);
    const plan = await edge.send('POST', `${vms}/web/snapshots?dryRun=true`, { memory: true });
    expect(plan.json).toMatchObject({ refusals: [] });
    await edge.send('POST', `${vms}/web/snapshots`, { name: 'running', memory: true });
    expect((await edge.send('GET', `${vms}/web/snapshots`)).json).toMatchObject([{ name: 'running', memory: true }]);
  });

  test('are in the events of the VM with their caller', async () => {
    await edge.send('POST', `${vms}/web/snapshots`, { name: 'one' });
    await edge.send('POST', `${vms}/web/snapshots`, { name: 'one' });
    const events = (await edge.send('GET', `${vms}/web/events`)).json as unknown as { reason: string; type: string }[];
    const own = events.filter(({ reason }) => reason === 'create snapshot one');
    expect(own.map(({ type }) => type).sort()).toEqual(['Normal', 'Warning']);
  });

  test.each([
    ['a name that exists', 'POST', '/web/snapshots', { name: 'one' }, 409, 'ALREADY_EXISTS'],
    ['an odd name', 'POST', '/web/snapshots', { name: '../x' }, 400, 'INVALID_NAME'],
    ['a long name', 'POST', '/web/snapshots', { name: 'a'.repeat(64) }, 400, 'INVALID_NAME'],
    ['a name of another type', 'POST', '/web/snapshots', { name: null }, 400, 'INVALID_NAME'],
    ['an unknown field', 'POST', '/web/snapshots', { nmae: 'two' }, 400, 'INVALID_INPUT'],
    ['the memory of a stopped VM', 'POST', '/web/snapshots', { memory: true }, 409, 'WRONG_STATE'],
    ['an unknown VM', 'POST', '/nope/snapshots', {}, 404, 'INSTANCE_NOT_FOUND'],
    ['the list of an unknown VM', 'GET', '/nope/snapshots', undefined, 404, 'INSTANCE_NOT_FOUND'],
    ['the restore of an unknown snapshot', 'POST', '/web/snapshots/two/restore', undefined, 404, 'SNAPSHOT_NOT_FOUND'],
    [
      'the restore of the snapshot of another VM',
      'POST',
      '/db/snapshots/one/restore',
      undefined,
      404,
      'SNAPSHOT_NOT_FOUND',
    ],
    ['the deletion of the snapshot of another VM', 'DELETE', '/db/snapshots/one', undefined, 404, 'SNAPSHOT_NOT_FOUND'],
    ['the restore with a body', 'POST', '/web/snapshots/one/restore', { force: true }, 400, 'INVALID_INPUT'],
  ])('refuses %s', async (_title, method, path, body, status, code) => {
    await edge.send('POST', `${vms}/web/snapshots`, { name: 'one' });
    const answer = await edge.send(method, vms + path, body);
    expect([answer.status, answer.json.code]).toEqual([status, code]);
    expect(answer.json.error).not.toBe('');
    expect((await edge.send('GET', `${vms}/web/snapshots`)).json).toMatchObject([{ name: 'one' }]);
  });

  test.each([
    ['POST', '/web/snapshots', { name: 'two' }],
    ['POST', '/web/snapshots/one/restore', undefined],
    ['DELETE', '/web/snapshots/one', undefined],
    ['POST', '/web/clone', { target: 'copy' }],
    ['POST', '/web/template', { on: true }],
  ])('are left alone by the dry run of %s %s', async (method, path, body) => {
    await edge.send('POST', `${vms}/web/snapshots`, { name: 'one' });
    const read = async () => [
      (await edge.send('GET', `${vms}/web/snapshots`)).body,
      (await edge.send('GET', '/api/vms')).body,
    ];
    const before = await read();
    const answer = await edge.send(method, `${vms}${path}?dryRun=true`, body);
    // Earlier requests may have been measured.
    const { seconds: _seconds, ...plan } = answer.json;
    expect([answer.status, Object.keys(plan)]).toEqual([200, ['steps', 'warnings', 'refusals']]);
    expect(await read()).toEqual(before);
  });
});

describe('a clone', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = await new Edge().open();
  });

  afterEach(() => edge.close());

  const vms = '/api/vms/default';

  test('of a template is a VM that can be started, which the template can not', async () => {
    expect((await edge.send('POST', `${vms}/web/template`, { on: true })).json).toEqual({ isTemplate: true });
    for (const action of ['start', 'restart']) {
      const refused = await edge.send('POST', `${vms}/web/${action}`);
      expect([refused.status, refused.json.code]).toEqual([409, 'WRONG_STATE']);
      expect(refused.json.error).toContain('template');
      expect((await edge.send('POST', `${vms}/web/${action}?dryRun=true`)).status).toBe(409);
    }
    const cloned = await edge.send('POST', `${vms}/web/clone`, { target: 'copy' });
    expect([cloned.status, cloned.json]).toEqual([200, { target: 'copy', ref: 'vm/lab/default/copy' }]);
    expect((await edge.send('POST', `${vms}/copy/start`)).json).toEqual({ status: 'ok' });
    expect((await edge.send('POST', `${vms}/web/template`, { on: false })).json).toEqual({ isTemplate: false });
    expect((await edge.send('POST', `${vms}/web/start`)).json).toEqual({ status: 'ok' });
  });

  test('has the tags that it does not get in its plan', async () => {
    const plan = () => edge.send('POST', `${vms}/web/clone?dryRun=true`, { target: 'copy' });
    expect((await plan()).json).toMatchObject({ warnings: [], refusals: [] });
    for (const tag of ['prod', 'shop']) await edge.send('POST', `${vms}/web/tags`, { tag, on: true });
    expect((await plan()).json).toMatchObject({ warnings: ['The clone does not get the tags of web: prod, shop.'] });
    await edge.send('POST', `${vms}/web/clone`, { target: 'copy' });
    const listed = (await edge.send('GET', '/api/vms?q=copy')).json as unknown as { tags: string[] }[];
    expect(listed.map(({ tags }) => tags)).toEqual([[]]);
  });

  test.each([
    ['of a VM that runs', '/db/clone', { target: 'copy' }, 409, 'WRONG_STATE'],
    ['onto an existing name', '/web/clone', { target: 'db' }, 409, 'ALREADY_EXISTS'],
    ['onto itself', '/web/clone', { target: 'web' }, 409, 'ALREADY_EXISTS'],
    ['with an odd name', '/web/clone', { target: 'a/b' }, 400, 'INVALID_NAME'],
    ['without a name', '/web/clone', {}, 400, 'INVALID_NAME'],
    ['of an unknown VM', '/nope/clone', { target: 'copy' }, 404, 'INSTANCE_NOT_FOUND'],
  ])('%s is refused', async (_title, path, body, status, code) => {
    const before = (await edge.send('GET', '/api/vms')).body;
    const answer = await edge.send('POST', vms + path, body);
    expect([answer.status, answer.json.code]).toEqual([status, code]);
    expect((await edge.send('GET', '/api/vms')).body).toBe(before);
  });

  test('a VM that runs does not become a template', async () => {
    const answer = await edge.send('POST', `${vms}/db/template`, { on: true });
    expect([answer.status, answer.json.code]).toEqual([409, 'WRONG_STATE']);
  });
});
