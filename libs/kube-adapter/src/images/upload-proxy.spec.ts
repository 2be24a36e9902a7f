import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { Readable } from 'node:stream';
import { join } from 'node:path';
import { FixedClock } from '@headgate/testing';
import { sendToUploadProxy, type ProxyUpload } from './upload-proxy.js';

const FILE = Buffer.alloc(3 * 1024 ** 2, 'disk');
const digestOf = (data: Buffer): string => createHash('sha256').update(data).digest('hex');

/** Pauses end immediately and are recorded; only the test lets longer times pass. */
class HastyClock extends FixedClock {
  readonly pauses: number[] = [];

  override after(ms: number, callback: () => void): () => void {
    if (ms > 30_000) return super.after(ms, callback);
    this.pauses.push(ms);
    const immediate = setImmediate(callback);
    return () => clearImmediate(immediate);
  }
}

describe('sendToUploadProxy', () => {
  let server: Server;
  let folder: string;
  let clock: HastyClock;
  let answers: ((request: IncomingMessage, response: ServerResponse) => void)[];
  let requests: string[];
  let tokens: number;
  let sent: number[];
  let abort: AbortController;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hgtest-upload-'));
    await writeFile(join(folder, 'file'), FILE);
    [clock, answers, requests, tokens, sent, abort] = [new HastyClock(), [], [], 0, [], new AbortController()];
    server = createServer((request, response) => {
      requests.push(`${request.method} ${request.url} ${request.headers.authorization}`);
      (answers.shift() ?? accept)(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await rm(folder, { recursive: true });
    expect(clock.pending).toBe(0);
  });

  const stored: Buffer[] = [];
  const accept = (request: IncomingMessage, response: ServerResponse): void => {
    stored.length = 0;
    request.on('data', (chunk: Buffer) => stored.push(chunk)).on('end', () => void response.writeHead(200).end());
  };
  const refuse =
    (status: number, text = '', headers: Record<string, string> = {}) =>
    (_request: IncomingMessage, response: ServerResponse): void =>
      void response.writeHead(status, headers).end(text);
  const send = (path = '', overrides: Partial<ProxyUpload> = {}): Promise<void> =>
    sendToUploadProxy(clock, {
      proxy: { url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`) },
      open: () => createReadStream(join(folder, 'file')),
      bytes: FILE.length,
      signal: abort.signal,
      requestToken: async () => `token-${++tokens}`,
      onBytes: (bytes) => sent.push(bytes),
      ...overrides,
    });

  test('sends the whole file with the token, and reports the progress', async () => {
    await send('/cdi/');
    expect(requests).toEqual(['POST /cdi/v1beta1/upload-async Bearer token-1']);
    expect(digestOf(Buffer.concat(stored))).toBe(digestOf(FILE));
    expect([sent.length > 1, sent.at(-1)]).toEqual([true, FILE.length]);
  });

  test('sends content of unknown length that can be read only once in one attempt', async () => {
    let opened = 0;
    const open = (): Readable => {
      opened++;
      return Readable.from([FILE]);
    };
    await send('', { open, bytes: undefined, maxAttempts: 1 });
    expect(digestOf(Buffer.concat(stored))).toBe(digestOf(FILE));
    answers = [refuse(503)];
    await expect(send('', { open, bytes: undefined, maxAttempts: 1 })).rejects.toMatchObject({
      code: 'BACKEND_FAILED',
    });
    expect([opened, requests.length]).toEqual([2, 2]);
  });

  test('uses the older path where the newer one does not exist', async () => {
    answers = [refuse(404)];
    await send();
    expect(requests.map((request) => request.split(' ')[1])).toEqual(['/v1beta1/upload-async', '/v1beta1/upload']);
    expect(digestOf(Buffer.concat(stored))).toBe(digestOf(FILE));
  });

  test('sends the file again with a new token when the upload server is not ready, or the connection breaks', async () => {
    answers = [refuse(503), (request) => void request.socket.destroy()];
    await send();
    expect(requests.map((request) => request.split(' ').at(-1))).toEqual(['token-1', 'token-2', 'token-3']);
    expect(clock.pauses).toEqual([2000, 4000]);
    expect(digestOf(Buffer.concat(stored))).toBe(digestOf(FILE));
  });

  test.each<[number, string, string, RegExp]>([
    [400, 'missing header', 'REJECTED_BY_BACKEND', /answered 400\. It says: missing header/],
    [401, '', 'BACKEND_FORBIDDEN', /does not accept the token/],
    [413, '<html><h1>413 Request Entity Too Large</h1></html>', 'REJECTED_BY_BACKEND', /limits the size/],
    [302, '', 'BACKEND_FAILED', /redirects uploads/],
    [500, '<b>no\nspace\u0007left</b>', 'REJECTED_BY_BACKEND', /It says: no space left$/],
  ])('explains the status %i, and does not try again', async (status, text, code, message) => {
    answers = [refuse(status, text, status === 302 ? { location: 'http://127.0.0.1:1/' } : {})];
    await expect(send()).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
    expect(requests).toHaveLength(1);
  });

  test('explains an address that is no upload proxy', async () => {
    answers = [refuse(404), refuse(404)];
    await expect(send()).rejects.toMatchObject({ message: expect.stringContaining('not an upload proxy') });
  });

  test('gives up when the upload server never becomes ready', async () => {
    answers = Array.from({ length: 9 }, () => refuse(503, 'no endpoints'));
    await expect(send()).rejects.toMatchObject({
      code: 'BACKEND_FAILED',
      message: expect.stringContaining('not ready (503). It says: no endpoints'),
    });
    expect(requests).toHaveLength(4);
  });

  test('quotes only the beginning of a long answer', async () => {
    answers = [refuse(500, 'x'.repeat(100_000))];
    const error = await send().catch((reason: Error) => reason);
    expect((error as Error).message.length).toBeLessThan(400);
  });

  test('does not wait for a proxy that accepts no byte', async () => {
    answers = [() => undefined];
    const sending = send();
    sending.catch(() => undefined);
    while (requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    while (sent.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const settled = sending.then(
      () => true,
      () => true,
    );
    let isSettled = false;
    void settled.then((value) => (isSettled = value));
    while (!isSettled) {
      clock.advance(3_600_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await expect(sending).rejects.toMatchObject({ code: 'BACKEND_TIMEOUT' });
  });

  test('ends when it is canceled, and does not try again', async () => {
    answers = [() => undefined];
    const sending = send();
    sending.catch(() => undefined);
    while (requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    abort.abort(new Error('canceled'));
    await expect(sending).rejects.toThrow('canceled');
    expect(requests).toHaveLength(1);
  });

  test('reports a file that can not be read', async () => {
    await rm(join(folder, 'file'));
    await expect(send()).rejects.toMatchObject({
      code: 'BACKEND_FAILED',
      message: expect.stringContaining("can't be read"),
    });
  });
});
