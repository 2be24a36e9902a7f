import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { Certificate, hasOpenssl } from '../testing/certificate.js';
import { FakeService } from '../testing/fake-service.js';
import { ClientError } from './client-error.js';
import { HttpClient } from './http-client.js';

describe('HttpClient', () => {
  let service: FakeService;
  const client = (path = '/', token = 'hgt_secret'): HttpClient =>
    new HttpClient({ url: new URL(path, service.url), token }, { version: '1.2.3', timeoutMs: 20_000 });
  const failure = async (request: Promise<unknown>): Promise<ClientError> => {
    const error: unknown = await request.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof ClientError)) throw new Error(`expected a ClientError, got ${String(error)}`);
    return error;
  };

  beforeEach(async () => {
    service = await FakeService.open();
  });
  afterEach(() => service.close());

  test('sends the token in a header, and keeps the path of the address', async () => {
    service.json('GET /vms/api/whoami', { login: 'ann' });
    const { body } = await client('/vms/').json('GET', '/api/whoami', { query: { a: '1&b=2', none: undefined } });
    expect(body).toEqual({ login: 'ann' });
    expect(service.lines).toEqual(['GET /vms/api/whoami?a=1%26b%3D2']);
    expect(service.requests[0]?.headers.authorization).toBe('Bearer hgt_secret');
  });

  test('follows no redirect, so the token is not sent to another host', async () => {
    const other = await FakeService.open();
    service.on('*', (response) => response.writeHead(302, { location: `${other.url}/api/vms` }).end());
    const error = await failure(client().json('GET', '/api/vms'));
    expect(error).toMatchObject({ code: 'REDIRECTED', exitCode: 1 });
    expect(error.message).toContain(`redirects to ${other.url}/api/vms`);
    expect(other.requests).toEqual([]);
    await other.close();
  });

  test.each([
    ['HTML with 200', 200, 'text/html', '<h1>Log in</h1>', 'NOT_A_SERVICE', 1],
    ['HTML with 502', 502, 'text/html', '<h1>Bad gateway</h1>', 'NOT_A_SERVICE', 6],
    ['HTML with 403', 403, 'text/html', 'no', 'NOT_A_SERVICE', 3],
    ['JSON of another program with 404', 404, 'application/json', '{"message":"no"}', 'NOT_A_SERVICE', 1],
    ['JSON that ends early', 200, 'application/json', '[{"name":', 'INVALID_JSON', 1],
  ])('reports %s', async (_what, status, type, text, code, exitCode) => {
    service.on('*', (response) => response.writeHead(status, { 'content-type': type }).end(text));
    expect(await failure(client().json('GET', '/api/vms'))).toMatchObject({ code, exitCode });
  });

  test('reports an answer that breaks off, although its JSON is complete so far', async () => {
    service.on('*', (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('[]', () => response.destroy());
    });
    const error = await failure(client().json('GET', '/api/vms'));
    expect(error).toMatchObject({ code: 'SERVICE_UNREACHABLE', exitCode: 6 });
    expect(error.message).toContain('closed before the answer was complete');
  });

  test('sends a change whose answer is lost once more, with the same key', async () => {
    let count = 0;
    service.on('POST /api/vms', (response) => {
      if (++count === 1) return void response.destroy();
      response.writeHead(201, { 'content-type': 'application/json' }).end('{"name":"web-1"}');
    });
    const { body } = await client().json('POST', '/api/vms', { body: { name: 'web-1' } });
    expect(body).toEqual({ name: 'web-1' });
    const keys = service.requests.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toHaveLength(2);
    expect(keys[0]).toMatch(/^[\da-f-]{36}$/);
    expect(keys[0]).toBe(keys[1]);
  });

  test('does not send a deletion twice, because the service knows no key for it', async () => {
    service.on('*', (response) => void response.destroy());
    expect(await failure(client().json('DELETE', '/api/vms/a/b'))).toMatchObject({ exitCode: 6 });
    expect(service.requests).toHaveLength(1);
  });

  test('names a route that an older service lacks', async () => {
    const error = await failure(client().json('GET', '/api/ext/doctor'));
    expect(error).toMatchObject({ code: 'PATH_NOT_FOUND', exitCode: 1 });
    expect(error.message).toMatch(/does not have GET \/api\/ext\/doctor. It is older than this program/);
  });

  test.each([
    [400, 'INVALID_NAME', 2],
    [400, 'CONTEXT_NOT_FOUND', 4],
    [403, 'NOT_PERMITTED', 3],
    [404, 'INSTANCE_NOT_FOUND', 4],
    [409, 'WRONG_STATE', 5],
    [409, 'MOVE_REFUSED', 3],
    [500, 'INTERNAL', 1],
    [501, 'NOT_SUPPORTED', 3],
    [502, 'BACKEND_FAILED', 1],
    [503, 'BACKEND_UNREACHABLE', 6],
    [504, 'BACKEND_TIMEOUT', 6],
  ])('takes over the sentence of an error %d %s, with the exit code %d', async (status, code, exitCode) => {
    service.json('*', { error: 'One sentence.', code }, status);
    expect(await failure(client().json('GET', '/api/vms'))).toMatchObject({ message: 'One sentence.', code, exitCode });
  });

  test('reports a port where no service listens, with the remedy', async () => {
    const offline = client();
    await service.close();
    const error = await failure(offline.json('GET', '/api/vms'));
    expect(error).toMatchObject({ code: 'SERVICE_UNREACHABLE', exitCode: 6 });
    expect(error.message).toMatch(/no service listens there\. Start the service .* --server or HEADGATE_SERVER/);
  });

  test('reports a server that accepts the connection and never answers', async () => {
    service.on('*', () => undefined);
    const impatient = new HttpClient({ url: new URL(service.url) }, { version: '1.2.3', timeoutMs: 50 });
    expect(await failure(impatient.json('GET', '/api/vms'))).toMatchObject({ code: 'TIMEOUT', exitCode: 6 });
  });

  test('ends with 130 when the user interrupts it', async () => {
    const { signal, abort } = controller();
    service.on('*', () => abort());
    const interrupted = new HttpClient({ url: new URL(service.url) }, { version: '1.2.3', timeoutMs: 20_000, signal });
    expect(await failure(interrupted.json('GET', '/api/vms'))).toMatchObject({ code: 'INTERRUPTED', exitCode: 130 });
  });

  const controller = () => {
    const abortion = new AbortController();
    return { signal: abortion.signal, abort: () => abortion.abort() };
  };

  test('reports a server that does not speak HTTP', async () => {
    const other = createServer((socket) => socket.resume().end('SSH-2.0-OpenSSH_9.2\r\n'));
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    const url = new URL(`http://127.0.0.1:${(other.address() as AddressInfo).port}`);
    const request = new HttpClient({ url }, { version: '1', timeoutMs: 20_000 }).json('GET', '/api/vms');
    expect(await failure(request)).toMatchObject({ code: 'NO_HTTP', exitCode: 6 });
    other.close();
    await once(other, 'close');
  });
});

(hasOpenssl ? describe : describe.skip)(`HttpClient with TLS${hasOpenssl ? '' : ': skipped, no openssl'}`, () => {
  let certificate: Certificate;
  let service: FakeService;

  beforeAll(async () => {
    certificate = new Certificate();
    service = await FakeService.open(certificate.pair);
    service.json('*', { login: 'ann' });
  });
  afterAll(async () => {
    await service?.close();
    certificate?.remove();
  });

  const get = (ca?: string, url = service.url) =>
    new HttpClient(
      { url: new URL(url), ...(ca === undefined ? {} : { ca }) },
      { version: '1', timeoutMs: 20_000 },
    ).json('GET', '/api/whoami');

  test('trusts a certificate of the given authority', async () => {
    expect((await get(certificate.pair.cert)).body).toEqual({ login: 'ann' });
  });

  test('refuses an unknown certificate with the remedy, whatever the environment allows', async () => {
    const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      await expect(get()).rejects.toMatchObject({
        code: 'UNTRUSTED_CERTIFICATE',
        exitCode: 6,
        message: expect.stringContaining('--cacert'),
      });
    } finally {
      if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before;
    }
    expect(service.requests).toHaveLength(1);
  });

  test('refuses a certificate for another name', async () => {
    await expect(get(certificate.pair.cert, service.url.replace('127.0.0.1', 'localhost'))).rejects.toMatchObject({
      code: 'UNTRUSTED_CERTIFICATE',
      message: expect.stringContaining('is for another name'),
    });
  });
});
