import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { FixedClock } from '@headgate/testing';
import { HttpServer } from './testing/http-server.js';
import { openImage, parseImageUrl } from './open-image.js';
import { EgressPolicy } from './egress-policy.js';
import { SpaceGuard } from './limits.js';
import { PartialDownloads } from './partial-downloads.js';

const IMAGE = Buffer.alloc(300_000, 'disk');
const MAX_BYTES = 32 * 1024 ** 2;

describe('openImage', () => {
  let server: HttpServer;
  let folder: string;
  let file: string;
  const clock = new FixedClock();
  const egress = new EgressPolicy({ allow: ['127.0.0.1'] });
  let freeBytes: number;
  const seen: [number, number | undefined][] = [];

  beforeEach(async () => {
    server = await HttpServer.listen();
    folder = await mkdtemp(join(tmpdir(), 'download-spec-'));
    file = join(folder, 'image');
    seen.length = 0;
    freeBytes = 100 * 1024 ** 3;
  });
  afterEach(async () => {
    await server.close();
    await rm(folder, { recursive: true });
    expect(clock.pending).toBe(0);
  });

  const download = async (url: string, signal = new AbortController().signal) =>
    (await openImage({ egress, clock }, url, signal)).save(file, {
      onBytes: (...bytes) => void seen.push(bytes),
      maxBytes: MAX_BYTES,
      space: new SpaceGuard(folder, () => Promise.resolve(freeBytes)),
      partials: new PartialDownloads(join(folder, 'partial'), clock),
    });

  test('stores the response body and reports progress', async () => {
    server.serve('/a.img', IMAGE);
    await download(server.url('/a.img'));
    expect((await readFile(file)).equals(IMAGE)).toBe(true);
    expect(seen.at(-1)).toEqual([IMAGE.length, IMAGE.length]);
    expect(seen.length).toBeGreaterThan(1);
  });

  test.each([
    ['gzip', gzipSync(IMAGE)],
    ['zstd', zstdCompressSync(IMAGE)],
  ])('decompresses %s, regardless of the file name', async (_name, packed) => {
    server.serve('/a.img', packed);
    await download(server.url('/a.img'));
    expect((await readFile(file)).equals(IMAGE)).toBe(true);
  });

  test.each<[string, Record<string, string>, boolean]>([
    ['a strong ETag', { etag: '"v1"' }, true],
    ['the time of the last change', { 'last-modified': 'Sun, 22 Nov 2026 10:00:00 GMT' }, true],
    ['a weak ETag', { etag: 'W/"v1"' }, false],
    ['nothing', {}, false],
  ])('knows the version of a file from %s', async (_title, headers, isKnown) => {
    const identityOf = async (path: string) => {
      const image = await openImage({ egress, clock }, server.url(path), new AbortController().signal);
      image.discard();
      return image.identity;
    };
    server.serve('/a.img', IMAGE, headers);
    const identity = await identityOf('/a.img');
    expect(identity !== undefined).toBe(isKnown);
    if (!isKnown) return;
    expect(await identityOf('/a.img')).toBe(identity);
    server.serve('/b.img', IMAGE, headers);
    expect(await identityOf('/b.img')).not.toBe(identity);
    server.serve('/a.img', IMAGE, { etag: '"v2"', 'last-modified': 'Mon, 23 Nov 2026 10:00:00 GMT' });
    expect(await identityOf('/a.img')).not.toBe(identity);
  });

  test('keeps the credentials of a URL out of its identity', async () => {
    server.serve('/a.img', IMAGE, { etag: '"v1"' });
    const url = server.url('/a.img').replace('http://', 'http://user:s3cret@');
    const image = await openImage({ egress, clock }, url, new AbortController().signal);
    image.discard();
    expect(image.identity).toContain('v1');
    expect(image.identity).not.toContain('s3cret');
  });

  test('follows a redirect', async () => {
    server.routes.set('/a.img', (_request, response) => void response.writeHead(302, { location: '/b.img' }).end());
    server.serve('/b.img', IMAGE);
    await download(server.url('/a.img'));
    expect(server.requests).toEqual(['/a.img', '/b.img']);
  });

  test('rejects a body that is shorter than its content length', async () => {
    server.routes.set('/a.img', (_request, response) => {
      response.writeHead(200, { 'content-length': String(IMAGE.length) });
      response.write(IMAGE.subarray(0, 100_000), () => response.destroy());
    });
    await expect(download(server.url('/a.img'))).rejects.toMatchObject({
      code: 'BACKEND_UNREACHABLE',
      message: expect.stringContaining('interrupted'),
    });
  });

  test('accepts a download that matches the checksum in the URL and rejects any other', async () => {
    server.serve('/a.img', IMAGE);
    const digest = createHash('sha256').update(IMAGE).digest('hex');
    await download(`${server.url('/a.img')}#sha256:${digest}`);
    await expect(download(`${server.url('/a.img')}#sha256:${'0'.repeat(64)}`)).rejects.toMatchObject({
      code: 'BACKEND_FAILED',
      message: expect.stringContaining('checksum'),
    });
  });

  test('reports a response that is not an image', async () => {
    await expect(download(server.url('/none'))).rejects.toMatchObject({
      code: 'INVALID_SOURCE',
      message: expect.stringContaining('404'),
    });
    server.routes.set('/broken', (_request, response) => void response.writeHead(503).end());
    await expect(download(server.url('/broken'))).rejects.toMatchObject({ code: 'BACKEND_FAILED' });
    server.serve('/page', '<html></html>', { 'content-type': 'text/html; charset=utf-8' });
    await expect(download(server.url('/page'))).rejects.toMatchObject({
      code: 'INVALID_SOURCE',
      message: expect.stringContaining('web page'),
    });
  });

  test('rejects a damaged compressed image', async () => {
    server.serve('/a.gz', gzipSync(IMAGE).subarray(0, 200));
    await expect(download(server.url('/a.gz'))).rejects.toMatchObject({
      code: 'INVALID_SOURCE',
      message: expect.stringContaining('damaged'),
    });
  });

  test('sends the password of a URL to the server and never reveals it in errors', async () => {
    server.routes.set('/a.img', (request, response) => {
      if (request.headers.authorization !== `Basic ${Buffer.from('u:s3cret').toString('base64')}`)
        return void response.writeHead(403).end();
      response.end(IMAGE);
    });
    await download(`http://u:s3cret@${server.host}/a.img`);
    expect((await readFile(file)).equals(IMAGE)).toBe(true);
    const refused = await download(`http://u:s3cret@${server.host}/none`).catch((error: Error) => error);
    expect(String(refused)).not.toContain('s3cret');
  });

  test("reports a server that can't be reached", async () => {
    await expect(download('http://127.0.0.1:1/a.img')).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
  });

  test('stops an endless body at the limit', async () => {
    server.routes.set('/endless.img', (_request, response) => {
      response.writeHead(200);
      const chunk = Buffer.alloc(1024 ** 2, 'x');
      const send = (): void => {
        if (response.write(chunk)) setImmediate(send);
        else response.once('drain', send);
      };
      send();
    });
    await expect(download(server.url('/endless.img'))).rejects.toMatchObject({
      code: 'INVALID_SOURCE',
      message: expect.stringContaining('larger than 32Mi'),
    });
  });

  test('stops a decompression bomb', async () => {
    server.serve('/bomb.gz', gzipSync(Buffer.alloc(20 * 1024 ** 2)));
    await expect(download(server.url('/bomb.gz'))).rejects.toMatchObject({
      code: 'INVALID_SOURCE',
      message: expect.stringContaining('bomb'),
    });
    expect((await stat(file)).size).toBeLessThan(18 * 1024 ** 2);
  });

  test('refuses to begin when the disk does not have enough space, and stops when it runs low', async () => {
    server.serve('/a.img', IMAGE);
    freeBytes = 1024 ** 3;
    await expect(download(server.url('/a.img'))).rejects.toMatchObject({ code: 'INSUFFICIENT_STORAGE' });
    freeBytes = 2 * 1024 ** 3;
    server.routes.set('/large.img', (_request, response) => {
      response.writeHead(200);
      freeBytes = 1024 ** 2;
      response.end(Buffer.alloc(16 * 1024 ** 2, 'x'));
    });
    await expect(download(server.url('/large.img'))).rejects.toMatchObject({ code: 'INSUFFICIENT_STORAGE' });
  });

  test('refuses private addresses, also behind a redirect', async () => {
    server.serve('/a.img', IMAGE);
    const strict = new EgressPolicy();
    const { signal } = new AbortController();
    await expect(openImage({ egress: strict, clock }, server.url('/a.img'), signal)).rejects.toMatchObject({
      code: 'INVALID_SOURCE',
      message: expect.stringContaining('SVC_IMPORT_ALLOW'),
    });
    expect(server.requests).toEqual([]);
    server.routes.set('/r.img', (_request, response) => {
      response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end();
    });
    await expect(download(server.url('/r.img'))).rejects.toMatchObject({
      code: 'INVALID_SOURCE',
      message: expect.stringContaining('169.254.169.254'),
    });
  });

  test('does not send credentials to another server after a redirect', async () => {
    const other = await HttpServer.listen();
    let received: string | undefined = 'none';
    other.routes.set('/b.img', (request, response) => {
      received = request.headers.authorization;
      response.end(IMAGE);
    });
    server.routes.set('/a.img', (_request, response) => {
      response.writeHead(302, { location: other.url('/b.img') }).end();
    });
    await download(`http://u:s3cret@${server.host}/a.img`);
    expect(received).toBeUndefined();
    await other.close();
  });

  test('stops when it is canceled', async () => {
    const cancel = new AbortController();
    server.routes.set('/a.img', (_request, response) => {
      response.writeHead(200, { 'content-length': '1000000' });
      response.write(IMAGE, () => cancel.abort());
    });
    await expect(download(server.url('/a.img'), cancel.signal)).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  test('times out when the server stops sending', async () => {
    server.routes.set('/a.img', (_request, response) => {
      response.writeHead(200, { 'content-length': '1000000' });
      response.write(IMAGE, () => setImmediate(() => clock.advance(60_000)));
    });
    await expect(download(server.url('/a.img'))).rejects.toMatchObject({ code: 'BACKEND_TIMEOUT' });
  });
});

describe('parseImageUrl', () => {
  test.each(['ftp://host/a', 'file:///etc/passwd', 'a.img', 'http://host/a#md5:00'])('rejects %s', (url) => {
    expect(() => parseImageUrl(url)).toThrow(expect.objectContaining({ code: 'INVALID_SOURCE' }));
  });
});
