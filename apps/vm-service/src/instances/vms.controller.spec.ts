import 'reflect-metadata';
import { Edge } from '../testing/edge.js';

describe('a VM', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = await new Edge().open();
  });

  afterEach(() => edge.close());

  test('is created, tagged, started, read, stopped and deleted', async () => {
    const created = await edge.send('POST', '/api/vms', { name: 'new', image: 'tiny', mem: '1G' });
    expect([created.status, created.json]).toEqual([
      201,
      { name: 'new', namespace: 'tailvm', ref: 'vm/lab/tailvm/new' },
    ]);
    expect((await edge.send('POST', '/api/vms/tailvm/new/tags', { tag: 'prod', on: true })).json).toEqual({
      tag: 'prod',
      on: true,
    });
    expect((await edge.send('POST', '/api/vms/tailvm/new/start')).json).toEqual({ status: 'ok' });
    expect((await edge.send('POST', '/api/vms/tailvm/new/start')).json).toEqual({ status: 'ok' });
    const list = (await edge.send('GET', '/api/vms?q=new')).json as unknown as unknown[];
    expect(list).toMatchObject([{ name: 'new', tags: ['prod'], status: 'Running', mem: '1Gi' }]);
    expect((await edge.send('GET', '/api/vms/tailvm/new')).json).toMatchObject({
      kind: 'MemoryVm',
      userData: 'password: secret',
    });
    expect((await edge.send('POST', '/api/vms/tailvm/new/stop?force=true')).json).toEqual({ status: 'ok' });
    expect((await edge.send('DELETE', '/api/vms/tailvm/new')).json).toEqual({ status: 'deleted' });
    expect((await edge.send('GET', '/api/vms/tailvm/new')).status).toBe(404);
  });

  test('that is imported returns the task that fills its disk', async () => {
    const created = await edge.send('POST', '/api/vms', { name: 'new', import: 'https://example.org/a.qcow2' });
    expect(created.status).toBe(201);
    const task = await edge.send('GET', `/api/tasks/${String(created.json['task'])}`);
    expect(task.json).toMatchObject({
      status: 'done',
      kind: 'create',
      error: '',
      ref: 'vm/lab/tailvm/new',
      progress: 1,
    });
  });

  test.each([
    ['POST', '/api/vms?dryRun=true', { name: 'new', image: 'tiny' }],
    ['DELETE', '/api/vms/default/web?dryRun=true', undefined],
    ['POST', '/api/vms/default/web/start?dryRun=true', undefined],
    ['POST', '/api/vms/default/web/tags?dryRun=true', { tag: 'a', on: true }],
  ])('is left alone by %s %s', async (method, path, body) => {
    const before = (await edge.send('GET', '/api/vms')).body;
    const answer = await edge.send(method, path, body);
    expect([answer.status, Object.keys(answer.json)]).toEqual([200, ['steps', 'warnings', 'refusals']]);
    expect((await edge.send('GET', '/api/vms')).body).toBe(before);
  });

  test('whose name exists in several contexts is chosen by its context', async () => {
    const several = await edge.send('GET', '/api/vms/default/twin');
    expect(several.json).toMatchObject({
      code: 'AMBIGUOUS_INSTANCE',
      details: { candidates: ['vm/lab/default/twin', 'vm/other/default/twin'] },
    });
    await edge.send('DELETE', '/api/vms/default/twin?context=other');
    expect((await edge.send('GET', '/api/vms/default/twin')).status).toBe(200);
  });
});
