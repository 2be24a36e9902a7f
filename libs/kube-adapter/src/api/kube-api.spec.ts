import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { DomainError, SystemClock, type Clock } from '@headgate/domain-contracts';
import { KubeSandbox } from '@headgate/kube-sandbox';
import { CLIENT_HEADERS } from '@headgate/kubevirt-sandbox';
import { FixedClock } from '@headgate/testing';
import { KubeApi } from './kube-api.js';
import { KubeCredentials } from './kube-credentials.js';
import { NAMESPACES, NODES, PODS, SECRETS } from './resources.js';
import { Reachability } from '../watch/reachability.js';

const kubeconfigOf = (server: string): string =>
  JSON.stringify({
    clusters: [{ name: 'c', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'u', user: { token: 't' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  });

describe('KubeApi', () => {
  let sandbox: KubeSandbox;
  let api: KubeApi;
  let credentials: KubeCredentials;

  beforeAll(async () => {
    sandbox = await KubeSandbox.listen({ namespaces: ['lab'], rbac: { guest: ['view'] } });
    credentials = new KubeCredentials({ text: sandbox.kubeconfig() });
    api = new KubeApi('prod', credentials, new SystemClock());
  });
  afterEach(() => sandbox.faults.clear());
  afterAll(async () => {
    credentials.close();
    await sandbox.close();
  });

  const secret = (name: string) => api.create(SECRETS, { metadata: { name, namespace: 'lab' } });

  test('reads a collection page by page', async () => {
    for (let index = 0; index < 260; index++)
      sandbox.store.create('secrets', {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: `page-${index}`, namespace: 'lab' },
      });
    const sizes: number[] = [];
    for await (const page of api.pages(SECRETS, { namespace: 'lab' })) sizes.push(page.items.length);
    expect(sizes).toHaveLength(2);
    expect(sizes[0]).toBe(250);
    expect(sizes.reduce((a, b) => a + b)).toBeGreaterThanOrEqual(260);
  });

  test('retries a write that met a conflict, a limited number of times', async () => {
    await secret('raced');
    sandbox.faults.failNext({ resource: 'secrets', verb: 'patch' }, 409, 3);
    const patch = () => api.patch(SECRETS, { namespace: 'lab', name: 'raced' }, { metadata: { labels: { a: 'b' } } });
    await expect(patch()).resolves.toMatchObject({ metadata: { labels: { a: 'b' } } });
    sandbox.faults.failNext({ resource: 'secrets', verb: 'patch' }, 409);
    await expect(patch()).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  test('deletes only the given version of an object', async () => {
    const { metadata } = await secret('changed');
    const path = { namespace: 'lab', name: 'changed' };
    await api.patch(SECRETS, path, { metadata: { labels: { a: 'b' } } });
    const before = sandbox.requests.count({ verb: 'delete', resource: 'secrets' });
    expect(await api.delete(SECRETS, path, { uid: metadata.uid, resourceVersion: metadata.resourceVersion })).toBe(
      false,
    );
    expect(sandbox.requests.count({ verb: 'delete', resource: 'secrets' })).toBe(before + 1);
    expect(await api.find(SECRETS, path)).toBeDefined();
  });

  test('deletes only the object with the given uid', async () => {
    const { metadata } = await secret('meant');
    expect(await api.delete(SECRETS, { namespace: 'lab', name: 'meant' }, { uid: 'another' })).toBe(false);
    expect(await api.find(SECRETS, { namespace: 'lab', name: 'meant' })).toBeDefined();
    expect(await api.delete(SECRETS, { namespace: 'lab', name: 'meant' }, { uid: metadata.uid })).toBe(true);
    expect(await api.delete(SECRETS, { namespace: 'lab', name: 'meant' })).toBe(false);
  });

  test('names the verb and the resource of a missing permission', async () => {
    const own = new KubeCredentials({ text: sandbox.kubeconfig('guest') });
    const guest = new KubeApi('prod', own, new SystemClock());
    await expect(guest.list(NODES)).rejects.toMatchObject({
      code: 'BACKEND_FORBIDDEN',
      message: expect.stringMatching(/prod does not let guest list nodes/),
    });
    own.close();
  });

  test('reports an expired token', async () => {
    const text = sandbox.kubeconfig('visitor');
    const own = new KubeCredentials({ text });
    sandbox.revoke(sandbox.tokenForUser('visitor'));
    await expect(new KubeApi('prod', own, new SystemClock()).list(PODS)).rejects.toMatchObject({
      code: 'BACKEND_FORBIDDEN',
      message: expect.stringMatching(/token has expired/),
    });
    own.close();
  });

  test('reports an API that is not installed', async () => {
    const absent = {
      apiVersion: 'cdi.kubevirt.io/v1beta1',
      kind: 'DataVolume',
      plural: 'datavolumes',
      namespaced: true,
    };
    await expect(api.list(absent)).rejects.toMatchObject({
      code: 'NOT_SUPPORTED',
      message: 'prod does not serve the API cdi.kubevirt.io/v1beta1: it needs CDI (containerized-data-importer).',
    });
  });
});

/** A system clock whose delays pass immediately and are recorded. */
class ImpatientClock extends SystemClock {
  readonly delaysMs: number[] = [];

  override async delay(ms: number): Promise<void> {
    this.delaysMs.push(ms);
  }
}

describe('KubeApi and an overloaded server', () => {
  let server: Server | undefined;
  let credentials: KubeCredentials;
  let clock: ImpatientClock;
  let requests: string[];

  // A test may open several servers in turn.
  const close = (): void => {
    if (!server) return;
    credentials.close();
    server.closeAllConnections();
    server.close();
    server = undefined;
  };

  afterEach(close);

  interface Scripted {
    readonly status: number;
    readonly message?: string;
    readonly retryAfter?: string;
  }

  let headers: IncomingHttpHeaders;

  /** Answers with the given responses in turn, and then with an empty object. */
  async function apiOf(...responses: Scripted[]): Promise<KubeApi> {
    close();
    requests = [];
    const started = createServer((request, response) => {
      requests.push(`${request.method} ${request.url}`);
      headers = request.headers;
      const { status, message = '', retryAfter } = responses.shift() ?? { status: 200 };
      response.writeHead(status, retryAfter === undefined ? {} : { 'Retry-After': retryAfter });
      response.end(JSON.stringify(status === 200 ? { metadata: {}, items: [] } : { kind: 'Status', message }));
    });
    server = started;
    await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
    const { port } = started.address() as AddressInfo;
    credentials = new KubeCredentials({ text: kubeconfigOf(`http://127.0.0.1:${port}`) });
    clock = new ImpatientClock();
    return new KubeApi('prod', credentials, clock);
  }
  const create = (api: KubeApi) => api.create(SECRETS, { metadata: { name: 's', namespace: 'lab' } });

  test('sends the headers that the comparison with a real cluster sends', async () => {
    const { Accept, 'User-Agent': userAgent } = CLIENT_HEADERS;
    const api = await apiOf();
    const common = { host: expect.anything(), connection: 'keep-alive', authorization: 'Bearer t' };
    const expected = { ...common, accept: Accept, 'user-agent': userAgent };
    await api.list(PODS);
    expect(headers).toEqual(expected);
    await api.invoke('/start', {});
    expect(headers).toEqual({ ...expected, 'content-type': 'application/json', 'content-length': '2' });
  });

  test('waits as long as a 429 demands, for reads and writes', async () => {
    const api = await apiOf({ status: 429, retryAfter: '2' }, { status: 429, retryAfter: '3' });
    await create(api);
    expect(requests).toHaveLength(3);
    expect(clock.delaysMs).toEqual([2_000, 3_000]);
  });

  test('sends no write while this process may not write, also not again after a pause', async () => {
    let mayWrite = true;
    const api = await apiOf({ status: 429, retryAfter: '2' });
    const fenced = new KubeApi('prod', credentials, clock, { mayWrite: () => mayWrite });
    const rejected = { code: 'NOT_READY', message: expect.stringContaining('try again soon') };
    const pause = clock.delay.bind(clock);
    clock.delay = (ms) => {
      mayWrite = false;
      return pause(ms);
    };
    await expect(create(fenced)).rejects.toMatchObject(rejected);
    expect(requests).toHaveLength(1);
    const secret = { namespace: 'lab', name: 's' };
    await expect(fenced.patch(SECRETS, secret, {})).rejects.toMatchObject(rejected);
    await expect(fenced.delete(SECRETS, secret)).rejects.toMatchObject(rejected);
    await expect(fenced.invoke('/start', {})).rejects.toMatchObject(rejected);
    expect(requests).toHaveLength(1);
    await fenced.list(PODS);
    await fenced.create(SECRETS, { metadata: secret }, { dryRun: true });
    expect(requests.slice(1).map((line) => line.split(' ')[0])).toEqual(['GET', 'POST']);
    mayWrite = true;
    await create(fenced);
    await create(api);
    expect(requests).toHaveLength(5);
  });

  test('retries any error that names a time to retry after', async () => {
    const api = await apiOf({ status: 500, message: 'please try again', retryAfter: '1' });
    await create(api);
    expect(clock.delaysMs).toEqual([1_000]);
  });

  test('reports BUSY when the server stays overloaded, or demands too long a pause', async () => {
    const overloaded = Array.from({ length: 20 }, () => ({ status: 429, retryAfter: '1' }));
    await expect(create(await apiOf(...overloaded))).rejects.toMatchObject({ code: 'BUSY' });
    expect(requests.length).toBeLessThan(10);
    await expect(create(await apiOf({ status: 429, retryAfter: '600' }))).rejects.toMatchObject({ code: 'BUSY' });
    expect(requests).toHaveLength(1);
  });

  test('retries a read after a transient error', async () => {
    const api = await apiOf({ status: 500, message: 'etcdserver: leader changed' }, { status: 502 });
    await expect(api.list(PODS)).resolves.toEqual([]);
    expect(requests).toHaveLength(3);
  });

  test('retries a write only when it was certainly not carried out, or is safe to repeat', async () => {
    const webhook = 'Internal error occurred: failed calling webhook "x": connect: connection refused';
    await create(await apiOf({ status: 500, message: webhook }));
    expect(requests).toHaveLength(2);
    const path = { namespace: 'lab', name: 's' };
    await (await apiOf({ status: 500, message: 'etcdserver: request timed out' })).patch(SECRETS, path, {});
    expect(requests).toHaveLength(2);
    await (await apiOf({ status: 500, message: 'etcdserver: request timed out' })).delete(SECRETS, path);
    expect(requests).toHaveLength(2);
    const unknown = await apiOf({ status: 500, message: 'etcdserver: request timed out' });
    await expect(create(unknown)).rejects.toMatchObject({ code: 'BACKEND_FAILED' });
    expect(requests).toHaveLength(1);
  });

  test('repeats an action once when KubeVirt lost a race', async () => {
    const race = { status: 500, message: 'the server rejected our request due to an error in our request' };
    await (await apiOf(race)).invoke('/start');
    expect(requests).toHaveLength(2);
    await expect((await apiOf(race, race, race)).invoke('/start')).rejects.toMatchObject({ code: 'BUSY' });
    expect(requests).toHaveLength(2);
  });
});

describe('KubeApi on bad connections', () => {
  let server: Server | undefined;
  let credentials: KubeCredentials | undefined;

  // A test may open several servers in turn.
  const close = (): void => {
    credentials?.close();
    server?.closeAllConnections();
    server?.close();
    [server, credentials] = [undefined, undefined];
  };
  afterEach(close);

  async function apiOf(listener: RequestListener, clock: Clock, reachability?: Reachability): Promise<KubeApi> {
    close();
    const started = createServer(listener);
    server = started;
    await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
    const { port } = started.address() as AddressInfo;
    credentials = new KubeCredentials({ text: kubeconfigOf(`http://127.0.0.1:${port}`) });
    return new KubeApi('prod', credentials, clock, { outage: reachability });
  }

  test('reads an answer that came while this process got no CPU for longer than the limit', async () => {
    const api = await apiOf((_request, response) => {
      response.end('{}');
      const began = performance.now();
      while (performance.now() - began < 1_200);
    }, new SystemClock());
    await expect(api.text('GET', '/version', { timeoutMs: 1_000, retry: false })).resolves.toBe('{}');
  });

  test('fails when the server does not answer in time', async () => {
    const clock = new FixedClock();
    const api = await apiOf(() => clock.advance(3_000), clock);
    await expect(api.text('GET', '/version', { timeoutMs: 3_000 })).rejects.toMatchObject({
      code: 'BACKEND_TIMEOUT',
      message: 'The API server of prod did not answer GET /version within 3 s.',
    });
  });

  test('fails the pending requests when the server is lost, and sends later ones', async () => {
    const clock = new FixedClock();
    let probes = 0;
    const probe = async (): Promise<void> => {
      if (probes++ > 0) throw new DomainError('BACKEND_TIMEOUT', 'prod did not answer');
    };
    const reachability = new Reachability(probe, clock);
    const stop = reachability.listen({ up: () => undefined, lost: () => undefined });
    await reachability.whenUp();
    const received = new Promise<void>((resolve) => void apiOf(() => resolve(), clock, reachability).then(send));
    let pending: Promise<unknown> = Promise.resolve();
    function send(api: KubeApi): void {
      pending = api.list(PODS).catch((error: unknown) => [api, error]);
    }
    await received;
    reachability.probeNow();
    const [api, error] = (await pending) as [KubeApi, DomainError];
    expect(error).toMatchObject({ code: 'BACKEND_UNREACHABLE', message: 'prod did not answer' });
    server
      ?.removeAllListeners('request')
      .on('request', (_request, response) => void response.end('{"items":[],"metadata":{}}'));
    expect(await api.list(PODS)).toEqual([]);
    stop();
  });

  test('fails when a response is cut off', async () => {
    const api = await apiOf((_request, response) => {
      response.writeHead(200, { 'Content-Length': '100' });
      response.write('{"items":');
      setImmediate(() => response.destroy());
    }, new SystemClock());
    await expect(api.list(PODS)).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
  });

  test('fails when a response is not JSON', async () => {
    const api = await apiOf((_request, response) => void response.end('<html>'), new SystemClock());
    await expect(api.list(PODS)).rejects.toMatchObject({ code: 'BACKEND_FAILED' });
  });

  test('uses one connection for consecutive requests', async () => {
    let connections = 0;
    const api = await apiOf((_request, response) => void response.end('{"items":[],"metadata":{}}'), new SystemClock());
    server?.on('connection', () => connections++);
    for (let i = 0; i < 3; i++) await api.list(PODS);
    expect(connections).toBe(1);
  });

  test('never uses the connection of a refused upgrade again', async () => {
    const sandbox = await KubeSandbox.listen();
    credentials = new KubeCredentials({ text: sandbox.kubeconfig() });
    const api = new KubeApi('prod', credentials, new SystemClock());
    for (let i = 0; i < 3; i++) {
      await expect(api.socket('/api/v1/namespaces/default/pods/none/exec', [])).rejects.toMatchObject({
        response: { status: 404 },
      });
      await expect(api.create(NAMESPACES, { metadata: { name: `n-${i}` } })).resolves.toMatchObject({
        kind: 'Namespace',
      });
    }
    await sandbox.close();
  });

  /** Closes each connection when its second request arrives, without a response. */
  async function forgetfulApi(): Promise<KubeApi> {
    const served = new WeakSet<Socket>();
    return apiOf((request, response) => {
      methods.push(request.method ?? '');
      if (served.has(request.socket)) return void request.socket.resetAndDestroy();
      served.add(request.socket);
      response.end('{"items":[],"metadata":{}}');
    }, new SystemClock());
  }
  const methods: string[] = [];

  test('repeats a read once over a new connection when a kept one turns out to be closed', async () => {
    const api = await forgetfulApi();
    methods.length = 0;
    await api.list(PODS);
    expect(await api.list(PODS)).toEqual([]);
    expect(methods).toEqual(['GET', 'GET', 'GET']);
    const stream = await api.stream('/api/v1/pods?watch=true');
    stream.destroy();
    await new Promise((resolve) => stream.once('close', resolve));
  });

  test('looks up a creation whose connection was cut before each repetition', async () => {
    const api = await forgetfulApi();
    await api.list(PODS);
    methods.length = 0;
    await expect(api.create(NAMESPACES, { metadata: { name: 'n' } })).rejects.toMatchObject({
      code: 'BACKEND_UNREACHABLE',
    });
    const attempts = Array.from({ length: 4 }, () => ['POST', 'GET']).flat();
    expect(methods).toEqual(attempts);
    const cut = await apiOf((request) => {
      methods.push('cut');
      request.socket.resetAndDestroy();
    }, new SystemClock());
    await expect(cut.list(PODS)).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
    expect(methods).toEqual([...attempts, 'cut', 'cut', 'cut', 'cut']);
  });

  test('reports a refused connection', async () => {
    credentials = new KubeCredentials({ text: kubeconfigOf('http://127.0.0.1:1') });
    await expect(new KubeApi('prod', credentials, new SystemClock()).list(PODS)).rejects.toMatchObject({
      code: 'BACKEND_UNREACHABLE',
      message: expect.stringMatching(/connection is refused/),
    });
  });

  test.each([
    [{ text: 'no: kubeconfig' }, undefined],
    [{ text: kubeconfigOf('http://127.0.0.1:1') }, 'nowhere'],
    [{ file: '/nonexistent/kubeconfig' }, undefined],
  ])('reports an unusable kubeconfig %#', async (source, context) => {
    credentials = new KubeCredentials(source, context);
    await expect(new KubeApi('prod', credentials, new SystemClock()).list(PODS)).rejects.toMatchObject({
      code: 'BACKEND_UNREACHABLE',
      message: expect.stringMatching(/^The kubeconfig can't be used/),
    });
  });
});
