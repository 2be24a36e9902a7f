import { KubeSandbox } from '../../kube-sandbox.js';
import { ApiClient } from '../../testing/api-client.js';
import { machine, machines, MACHINES, MACHINES_PATH } from '../../testing/machine.js';

describe('Faults', () => {
  let sandbox: KubeSandbox;
  let api: ApiClient;

  beforeEach(async () => {
    sandbox = await KubeSandbox.listen({ namespaces: ['lab'] });
    sandbox.registry.register(machines);
    sandbox.store.create(MACHINES, machine('a'));
    api = new ApiClient(sandbox);
  });

  afterEach(() => sandbox.close());

  const codes = async (count: number, ask: () => Promise<{ code: number }>): Promise<number[]> => {
    const answers: number[] = [];
    for (let index = 0; index < count; index++) answers.push((await ask()).code);
    return answers;
  };

  test.each([409, 429, 500, 503] as const)('returns %i the given number of times and then recovers', async (code) => {
    sandbox.faults.failNext({ verb: 'patch', resource: MACHINES }, code, 2);
    expect(await codes(3, () => api.patch(`${MACHINES_PATH}/a`, { spec: { size: 2 } }))).toEqual([code, code, 200]);
  });

  test('sends Retry-After with 429', async () => {
    sandbox.faults.failNext({ resource: MACHINES }, 429, 1, 7);
    const { headers, body } = await api.get(MACHINES_PATH);
    expect([headers.get('retry-after'), body['reason']]).toEqual(['7', 'TooManyRequests']);
  });

  test('affects only matching requests', async () => {
    sandbox.faults.failNext({ verb: ['get', 'list'], namespace: 'lab', name: 'b' }, 500);
    expect((await api.get(`${MACHINES_PATH}/a`)).code).toBe(200);
    expect((await api.get(`${MACHINES_PATH}/b`)).code).toBe(500);
    sandbox.faults.clear();
    expect((await api.get(`${MACHINES_PATH}/b`)).code).toBe(404);
  });

  test('forbids until the fault is removed', async () => {
    const clear = sandbox.faults.forbid({ verb: 'delete', resource: MACHINES });
    const { code, body } = await api.delete(`${MACHINES_PATH}/a`);
    expect([code, body['message']]).toEqual([
      403,
      'machines.lab.dev "a" is forbidden: User "kubernetes-admin" cannot delete resource "machines" in API group "lab.dev" in the namespace "lab"',
    ]);
    clear();
    expect((await api.delete(`${MACHINES_PATH}/a`)).code).toBe(200);
  });

  test('denies by admission', async () => {
    sandbox.faults.refuseAdmission({ resource: MACHINES, verb: 'create', name: 'b' }, 'machine-validator.lab.dev', {
      message: 'no more machines',
    });
    const { code, body } = await api.post(MACHINES_PATH, machine('b'));
    expect([code, body['message']]).toEqual([
      400,
      'admission webhook "machine-validator.lab.dev" denied the request: no more machines',
    ]);
    expect((await api.post(MACHINES_PATH, machine('c'))).code).toBe(201);
  });

  test('delays requests', async () => {
    sandbox.faults.delay({ resource: MACHINES }, 30);
    const start = performance.now();
    await api.get(MACHINES_PATH);
    // Timers may fire a little early.
    expect(performance.now() - start).toBeGreaterThan(25);
  });

  test('breaks watches in the middle of a line', async () => {
    const watch = await api.watch(`${MACHINES_PATH}?watch=true`);
    expect(await watch.take(1)).toEqual(['ADDED a']);
    expect(sandbox.faults.cutWatches(MACHINES)).toBe(1);
    await expect(watch.next()).rejects.toThrow();
    expect(watch.unfinished).toBe('{"type":"MODIFIED","object":{"apiVersion":"');
  });

  test('expires the history: open watches get 410', async () => {
    const watch = await api.watch(`${MACHINES_PATH}?watch=true`);
    await watch.take(1);
    sandbox.faults.expireHistory();
    expect(await watch.next()).toMatchObject({ type: 'ERROR', object: { code: 410, reason: 'Expired' } });
    expect(await watch.next()).toBeUndefined();
  });

  test('stops the server and restarts it with all its objects', async () => {
    const { port } = sandbox;
    await sandbox.faults.serverDown();
    await expect(api.get('/version')).rejects.toThrow();
    await sandbox.faults.serverUp();
    expect(sandbox.port).toBe(port);
    expect((await api.get(`${MACHINES_PATH}/a`)).code).toBe(200);
  });

  test('a stopped server does not process delayed requests', async () => {
    sandbox.faults.delay({ verb: 'create' }, 20);
    const waiting = expect(api.post(MACHINES_PATH, machine('b'))).rejects.toThrow();
    while (sandbox.requests.count({ verb: 'create' }) === 0) await new Promise(setImmediate);
    await sandbox.faults.serverDown();
    await waiting;
    await sandbox.faults.serverUp();
    // Its delay equals that of the first request, which started earlier.
    expect((await api.post(MACHINES_PATH, machine('c'))).code).toBe(201);
    expect(sandbox.store.list(MACHINES).map(({ metadata }) => metadata.name)).toEqual(['a', 'c']);
  });
});

describe('RequestCounter', () => {
  test('counts by verb, resource and user, down to zero', async () => {
    const sandbox = await KubeSandbox.listen({ namespaces: ['lab'] });
    sandbox.registry.register(machines);
    await new ApiClient(sandbox).get(MACHINES_PATH);
    await new ApiClient(sandbox, sandbox.tokenForUser('alice')).get(`${MACHINES_PATH}/a`);
    await new ApiClient(sandbox).get('/version');
    expect(sandbox.requests.summary()).toEqual({
      'list machines.lab.dev': 1,
      'get machines.lab.dev': 1,
      'get /version': 1,
    });
    expect([sandbox.requests.count({ user: 'alice' }), sandbox.requests.count({ resource: MACHINES })]).toEqual([1, 2]);
    sandbox.requests.reset();
    expect(sandbox.requests.count()).toBe(0);
    await sandbox.close();
  });
});
