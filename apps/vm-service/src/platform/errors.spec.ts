import 'reflect-metadata';
import { Edge } from '../testing/edge.js';

describe('every error', () => {
  let edge: Edge;
  let before: string;
  const list = async (): Promise<string> => (await edge.send('GET', '/api/vms')).body;

  // One service for all tests: refused requests must not change anything.
  beforeAll(async () => {
    edge = await new Edge().open();
    before = await list();
  });

  afterAll(() => edge.close());

  test.each([
    // paths
    ['GET', '/nope', undefined, 404, 'PATH_NOT_FOUND'],
    ['GET', '/api/vms/', undefined, 404, 'PATH_NOT_FOUND'],
    ['PUT', '/api/vms', {}, 404, 'PATH_NOT_FOUND'],
    ['PATCH', '/api/vms/default/web', {}, 404, 'PATH_NOT_FOUND'],
    ['GET', '/index.html', undefined, 404, 'PATH_NOT_FOUND'],
    ['GET', '/api/vms/%zz/web', undefined, 400, 'INVALID_INPUT'],
    // names, in every path that carries one
    ...[
      'GET /api/vms/Bad/web',
      'DELETE /api/vms/default/We%20b',
      'POST /api/vms/-a/web/start',
      'POST /api/vms/default/a.b/tags',
    ].map(
      (route) =>
        [
          ...(route.split(' ') as [string, string]),
          route.endsWith('tags') ? { tag: 'a', on: true } : undefined,
          400,
          'INVALID_NAME',
        ] as const,
    ),
    ['POST', '/api/vms/default/w_b/migrate', {}, 400, 'INVALID_NAME'],
    ['POST', `/api/cts/default/${'a'.repeat(64)}/start`, undefined, 400, 'INVALID_NAME'],
    ['DELETE', '/api/cts/default/..%2Fx', undefined, 400, 'INVALID_NAME'],
    ...['Bad_Name', '-a', 'a b'].flatMap((name) =>
      [
        ['POST', '/api/vms/default/web/expand', { pvc: name, size: '1Ti' }],
        ['POST', '/api/vms/default/web/expand?dryRun=true', { pvc: name, size: '1Ti' }],
        ['DELETE', `/api/vms/default/web/volumes/${encodeURIComponent(name)}`, undefined],
        ['POST', '/api/vms/default/web/volumes', { pvc: name }],
        ['POST', `/api/ext/vms/default/db/volumes/${encodeURIComponent(name)}/move`, { storage: 'slow' }],
        ['DELETE', `/api/ext/vms/default/web/nics/${encodeURIComponent(name)}`, undefined],
        ['POST', `/api/ext/vms/default/web/nics/${encodeURIComponent(name)}`, { link: 'up' }],
        ['POST', `/api/ext/vms/default/web/drives/${encodeURIComponent(name)}`, { pvc: null }],
        ['DELETE', `/api/vms/default/web/snapshots/${encodeURIComponent(name)}`, undefined],
        ['POST', `/api/vms/default/web/snapshots/${encodeURIComponent(name)}/restore`, undefined],
        ['DELETE', `/api/ext/vms/default/web/checkpoints/${encodeURIComponent(name)}`, undefined],
        ['POST', '/api/vms/default/web/snapshots', { name }],
        ['POST', '/api/vms/default/web/clone', { target: name }],
        ['POST', '/api/vms/default/web/nics', { nad: 'lan', iface: name }],
        ['POST', '/api/vms', { name: 'new', pvc: name }],
        ['POST', '/api/vms', { name: 'new', image: name }],
        ['POST', '/api/datavolumes', { name, url: 'https://example.org/a.qcow2', size: '1Gi' }],
        ['DELETE', `/api/datavolumes/default/${encodeURIComponent(name)}`, undefined],
        ['DELETE', `/api/sources/${encodeURIComponent(name)}`, undefined],
        ['DELETE', `/api/plugins/${encodeURIComponent(name)}`, undefined],
        ['POST', `/api/plugins/${encodeURIComponent(name)}/install`, undefined],
        ['GET', `/api/vms/default/web/export?checkpoint=${encodeURIComponent(name)}`, undefined],
        ['GET', `/api/vms/default/web/export?since=${encodeURIComponent(name)}`, undefined],
      ].map(([method, path, body]) => [method, path, body, 400, undefined] as const),
    ),
    // unknown objects
    ['POST', '/api/vms/default/web/expand', { pvc: 'none', size: '1Ti' }, 404, 'DEVICE_NOT_FOUND'],
    ['DELETE', '/api/ext/vms/default/web/nics/none', undefined, 404, 'DEVICE_NOT_FOUND'],
    ['GET', '/api/vms/default/none', undefined, 404, 'INSTANCE_NOT_FOUND'],
    ['DELETE', '/api/vms/default/none', undefined, 404, 'INSTANCE_NOT_FOUND'],
    ['POST', '/api/vms/default/none/start', undefined, 404, 'INSTANCE_NOT_FOUND'],
    ['POST', '/api/vms/default/none/tags', { tag: 'a', on: true }, 404, 'INSTANCE_NOT_FOUND'],
    ['POST', '/api/vms/default/none/migrate', {}, 404, 'INSTANCE_NOT_FOUND'],
    ['POST', '/api/cts/default/web/start', undefined, 404, 'INSTANCE_NOT_FOUND'],
    ['DELETE', '/api/vms/default/box', undefined, 404, 'INSTANCE_NOT_FOUND'],
    ['GET', '/api/tasks/none', undefined, 404, 'TASK_NOT_FOUND'],
    // bodies
    ['POST', '/api/vms', '{', 400, 'INVALID_INPUT'],
    ['POST', '/api/vms', '[]', 400, 'INVALID_INPUT'],
    ['POST', '/api/vms', '"text"', 400, 'INVALID_INPUT'],
    ['POST', '/api/vms', '', 400, 'INVALID_NAME'],
    ['POST', '/api/vms', '{"__proto__":{"x":1},"name":"a"}', 400, 'INVALID_INPUT'],
    ['POST', '/api/vms', { name: 'new' }, 400, 'INVALID_SOURCE'],
    ['POST', '/api/vms', { name: 'new', image: 'tiny', pvc: 'volume-1' }, 400, 'INVALID_SOURCE'],
    ['POST', '/api/vms', { name: 'new', image: 'tiny', sshKey: 'ssh-ed25519 A' }, 400, 'INVALID_SOURCE'],
    ['POST', '/api/vms', { name: 'new', image: 'none' }, 400, 'UNKNOWN_CATALOG_ENTRY'],
    ['POST', '/api/vms', { name: 'New', image: 'tiny' }, 400, 'INVALID_NAME'],
    ['POST', '/api/vms', { name: 'new', image: 'tiny', mem: '4 Gi' }, 400, 'INVALID_QUANTITY'],
    ['POST', '/api/vms', { name: 'new', image: 'tiny', disk: '0' }, 400, 'INVALID_QUANTITY'],
    ['POST', '/api/vms', { name: 'new', image: 'tiny', cpu: '2' }, 400, 'INVALID_INPUT'],
    ['POST', '/api/vms', { name: 'new', image: 'tiny', cpu: 1.5 }, 400, 'INVALID_INPUT'],
    ['POST', '/api/vms', { name: 'new', image: 'tiny', cpu: null }, 400, 'INVALID_INPUT'],
    ['POST', '/api/vms', { name: 'new', image: 'tiny', color: 'red' }, 400, 'INVALID_INPUT'],
    ['POST', '/api/vms', { name: 'new', image: 'tiny', context: 'nowhere' }, 400, 'CONTEXT_NOT_FOUND'],
    ['POST', '/api/vms', { name: 'new', pvc: 'no-such' }, 400, 'VOLUME_NOT_FOUND'],
    ['POST', '/api/vms', { name: 'new', bootc: 'a/b' }, 501, 'NOT_SUPPORTED'],
    ['POST', '/api/vms', { name: 'web', namespace: 'default', image: 'tiny' }, 409, 'ALREADY_EXISTS'],
    ['POST', '/api/vms', `{"name":"${'a'.repeat(1_048_600)}"}`, 413, 'BODY_TOO_LARGE'],
    ['POST', '/api/vms/default/web/tags', { tag: 'a b', on: true }, 400, 'INVALID_INPUT'],
    ['POST', '/api/vms/default/web/tags', { tag: 'a' }, 400, 'INVALID_INPUT'],
    ['POST', '/api/vms/default/db/migrate', { targetNode: 'A B' }, 400, 'INVALID_INPUT'],
    ['POST', '/api/cts', { name: 'new' }, 400, 'INVALID_INPUT'],
    ['POST', '/api/cts', { name: 'new', image: 'debian:12' }, 501, 'NOT_SUPPORTED'],
    // actions and states
    ['POST', '/api/vms/default/web/explode', undefined, 400, 'UNKNOWN_ACTION'],
    ['POST', '/api/cts/default/box/restart', undefined, 400, 'UNKNOWN_ACTION'],
    ['POST', '/api/vms/default/web/restart', undefined, 409, 'WRONG_STATE'],
    ['POST', '/api/vms/default/web/migrate', undefined, 409, 'WRONG_STATE'],
    ['POST', '/api/vms/default/db/migrate', {}, 501, 'NOT_SUPPORTED'],
    ['POST', '/api/cts/default/box/stop', undefined, 501, 'NOT_SUPPORTED'],
    ['POST', '/api/vms/default/twin/start', undefined, 409, 'AMBIGUOUS_INSTANCE'],
    // queries
    ['GET', '/api/vms?limit=0', undefined, 400, 'INVALID_INPUT'],
    ['GET', '/api/vms?limit=10001', undefined, 400, 'INVALID_INPUT'],
    ['GET', '/api/vms?sort=color', undefined, 400, 'INVALID_INPUT'],
    ['GET', '/api/vms?cursor=x', undefined, 400, 'INVALID_INPUT'],
    ['GET', '/api/vms?context=a&context=b', undefined, 400, 'INVALID_INPUT'],
    ['POST', '/api/vms/default/web/start?force=yes', undefined, 400, 'INVALID_INPUT'],
    ['DELETE', '/api/vms/default/web?dryRun=1', undefined, 400, 'INVALID_INPUT'],
  ] as [string, string, unknown, number, string | undefined][])(
    'of %s %s %j is %i %s with the error body',
    async (method, path, body, status, code) => {
      const answer = await edge.send(method, path, body);
      expect([answer.status, answer.json.code]).toEqual([status, code ?? expect.stringMatching(/^[A-Z_]+$/)]);
      expect(answer.json.error).toMatch(/^[A-Z"a-z_].{10,}/);
      expect(answer.body).not.toMatch(/node_modules|\.js:\d|at [A-Z]/);
      expect(answer.headers['x-request-id']).toBeTruthy();
    },
  );

  test.each(['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=x', 'application/xml'])(
    'of a body sent as %s is 415',
    async (type) => {
      const answer = await edge.send('POST', '/api/vms', 'name=web', { 'content-type': type });
      expect([answer.status, answer.json.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    },
  );

  test('changes nothing', async () => {
    expect(await list()).toBe(before);
  });
});
