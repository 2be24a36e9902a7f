import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ServiceShutdown } from '@headgate/domain-contracts';
import { FixedClock } from '@headgate/testing';
import { HttpServer } from './testing/http-server.js';
import { MAX_INTERRUPTIONS, validatorOf } from './download-file.js';
import { EgressPolicy } from './egress-policy.js';
import { SpaceGuard } from './limits.js';
import { openImage } from './open-image.js';
import { PartialDownloads } from './partial-downloads.js';

const FILE = Buffer.from(Array.from({ length: 40_000 }, (_one, index) => `line ${index}\n`).join(''));
const CHANGED = Buffer.from(FILE.toString().toUpperCase());
const CUT = 100_000;
const MAX_BYTES = 32 * 1024 ** 2;
const digestOf = (data: Buffer): string => `sha256:${createHash('sha256').update(data).digest('hex')}`;

/** Pauses end immediately and are recorded; only the test lets longer times pass. */
class HastyClock extends FixedClock {
  readonly pauses: number[] = [];

  override after(ms: number, callback: () => void): () => void {
    if (ms > 20_000) return super.after(ms, callback);
    this.pauses.push(ms);
    const immediate = setImmediate(callback);
    return () => clearImmediate(immediate);
  }
}

type Answer = (response: ServerResponse, start: number, request: IncomingMessage) => void;

describe('a download', () => {
  let server: HttpServer;
  let folder: string;
  let file: string;
  let clock: HastyClock;
  let partials: PartialDownloads;
  /** `Range` and `If-Range` of each request. */
  let asked: (readonly [string | undefined, string | undefined])[];

  beforeEach(async () => {
    server = await HttpServer.listen();
    folder = await mkdtemp(join(tmpdir(), 'hgtest-download-'));
    file = join(folder, 'image');
    clock = new HastyClock();
    partials = new PartialDownloads(join(folder, 'partial'), clock);
    asked = [];
    freeBytes = () => Promise.resolve(1e12);
  });
  afterEach(async () => {
    await server.close();
    await rm(folder, { recursive: true });
    expect(clock.pending).toBe(0);
  });

  /** Answers the requests for the file in turn; the last answer is repeated. */
  const answer = (...answers: Answer[]): void => {
    let next = 0;
    server.routes.set('/a.img', (request, response) => {
      const { range, 'if-range': ifRange } = request.headers;
      asked.push([range, ifRange as string | undefined]);
      const current = answers[Math.min(next++, answers.length - 1)];
      current?.(response, Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0), request);
    });
  };
  const whole =
    (data = FILE, headers: Record<string, string> = { etag: '"v1"' }): Answer =>
    (response) =>
      void response.writeHead(200, { 'content-length': data.length, ...headers }).end(data);
  /** The beginning of the file, until the connection breaks. */
  const cut =
    (headers: Record<string, string> = { etag: '"v1"' }, end = CUT, data = FILE): Answer =>
    (response) => {
      response.writeHead(200, { 'content-length': data.length, ...headers });
      breakAfter(response, data.subarray(0, end), end);
    };
  /**
   * Breaks the connection when all bytes that were sent have been stored. The client drops the bytes in its buffers.
   */
  const breakAfter = (response: ServerResponse, data: Buffer, storedBytes: number): void => {
    response.write(data);
    void (async () => {
      while ((await stored()) < storedBytes) await new Promise((resolve) => setImmediate(resolve));
      response.destroy();
    })();
  };
  /** A part of the file, as requested. */
  const rest =
    (headers: Record<string, string> = { etag: '"v1"' }, data = FILE): Answer =>
    (response, start) =>
      void response
        .writeHead(206, {
          'content-range': `bytes ${start}-${data.length - 1}/${data.length}`,
          'content-length': data.length - start,
          ...headers,
        })
        .end(data.subarray(start));

  const download = async (url = server.url('/a.img'), signal = new AbortController().signal, maxBytes = MAX_BYTES) => {
    const egress = new EgressPolicy({ allow: [server.host] });
    const image = await openImage({ egress, clock }, url, signal);
    return image.save(file, {
      onBytes: () => undefined,
      maxBytes,
      space: new SpaceGuard(folder, freeBytes),
      partials,
    });
  };
  let freeBytes = (): Promise<number> => Promise.resolve(1e12);
  const kept = (): Promise<string[]> => readdir(join(folder, 'partial')).catch(() => []);
  /** How many bytes of the download are on the disk. */
  const stored = async (): Promise<number> => {
    const [name = ''] = await kept();
    return stat(join(folder, 'partial', name, 'data')).then(
      ({ size }) => size,
      () => 0,
    );
  };
  const expectFile = async (data: Buffer): Promise<void> => {
    expect((await readFile(file)).equals(data)).toBe(true);
    expect(await kept()).toEqual([]);
  };

  test('continues where it was interrupted, if the file has a strong ETag', async () => {
    answer(cut(), rest());
    expect(`sha256:${await download()}`).toBe(digestOf(FILE));
    expect(asked).toEqual([
      [undefined, undefined],
      [`bytes=${CUT}-`, '"v1"'],
    ]);
    await expectFile(FILE);
  });

  test('continues with the time of the last change when the file has no ETag', async () => {
    const modified = 'Thu, 01 Jan 2026 00:00:00 GMT';
    answer(cut({ 'last-modified': modified }), rest({ 'last-modified': modified }));
    await download();
    expect(asked[1]).toEqual([`bytes=${CUT}-`, modified]);
    await expectFile(FILE);
  });

  test('continues several times, also a compressed file, and verifies the whole of it', async () => {
    const packed = gzipSync(FILE, { level: 0 });
    const headers = { etag: '"v1"' };
    answer(
      cut(headers, 50_000, packed),
      (response, start) => {
        response.writeHead(206, {
          'content-range': `bytes ${start}-${packed.length - 1}/${packed.length}`,
          ...headers,
        });
        breakAfter(response, packed.subarray(start, start + 50_000), start + 50_000);
      },
      rest(headers, packed),
    );
    await download(`${server.url('/a.img')}#${digestOf(packed)}`);
    expect(asked.map(([range]) => range)).toEqual([undefined, 'bytes=50000-', 'bytes=100000-']);
    await expectFile(FILE);
  });

  test('accepts a part that ends before the file does', async () => {
    answer(
      cut(),
      (response, start) =>
        void response
          .writeHead(206, {
            'content-range': `bytes ${start}-${start + 9}/${FILE.length}`,
            'content-length': 10,
            etag: '"v1"',
          })
          .end(FILE.subarray(start, start + 10)),
      rest(),
    );
    await download();
    expect(asked.map(([range]) => range)).toEqual([undefined, `bytes=${CUT}-`, `bytes=${CUT + 10}-`]);
    await expectFile(FILE);
  });

  test.each<[string, Answer, Buffer]>([
    ['the server knows no ranges', whole(), FILE],
    ['the file has changed', whole(CHANGED, { etag: '"v2"' }), CHANGED],
  ])('begins again with the answer when %s', async (_title, second, data) => {
    answer(cut(), second);
    await download();
    expect(asked).toHaveLength(2);
    await expectFile(data);
  });

  const part =
    (range: string, headers: Record<string, string> = {}, data = FILE): Answer =>
    (response, start) =>
      void response.writeHead(206, { 'content-range': range, etag: '"v1"', ...headers }).end(data.subarray(start));
  test.each<[string, Answer]>([
    ['has another ETag', rest({ etag: '"v2"' }, CHANGED)],
    ['begins elsewhere', part(`bytes 0-${FILE.length - 1}/${FILE.length}`)],
    ['is of a file with another length', part(`bytes ${CUT}-${FILE.length}/${FILE.length + 1}`)],
    ['ends behind the file', part(`bytes ${CUT}-${FILE.length}/${FILE.length}`)],
    ['ends before it begins', part(`bytes ${CUT}-${CUT - 1}/${FILE.length}`)],
    ['has no range', part('')],
    ['has a range in another unit', part(`lines ${CUT}-${FILE.length - 1}/${FILE.length}`)],
    ['is encoded', part(`bytes ${CUT}-${FILE.length - 1}/${FILE.length}`, { 'content-encoding': 'gzip' })],
    ['is out of range', (response) => void response.writeHead(416, { 'content-range': `bytes */${CUT - 1}` }).end()],
    ['is out of range without a length', (response) => void response.writeHead(416).end()],
  ])('begins again from zero when the part %s', async (_title, second) => {
    answer(cut(), second, whole());
    await download();
    expect(asked[2]).toEqual([undefined, undefined]);
    await expectFile(FILE);
  });

  test('fails when the server never sends the rest of the file', async () => {
    // Each part is longer, so that the bytes of the one before do not count.
    const lying: Answer = (response, start, request) =>
      (start === 0 ? cut(undefined, CUT + asked.length) : part('bytes 0-5/6'))(response, start, request);
    answer(lying);
    await expect(download()).rejects.toMatchObject({
      code: 'BACKEND_FAILED',
      message: expect.stringContaining('do not fit together'),
    });
    expect(await kept()).toEqual([]);
  });

  test('fails when the server sends more than it has announced', async () => {
    answer(cut(), (response, start) => {
      response.writeHead(206, { 'content-range': `bytes ${start}-${FILE.length - 1}/${FILE.length}`, etag: '"v1"' });
      response.end(Buffer.concat([FILE.subarray(start), Buffer.from('more')]));
    });
    await expect(download()).rejects.toMatchObject({
      code: 'BACKEND_FAILED',
      message: expect.stringContaining('more than it has announced'),
    });
    expect(await kept()).toEqual([]);
  });

  test('does not exceed its limit in several parts of an unknown total', async () => {
    const endless: Answer = (response, start) => {
      response.writeHead(start === 0 ? 200 : 206, {
        etag: '"v1"',
        ...(start > 0 && { 'content-range': `bytes ${start}-999999/*` }),
      });
      breakAfter(response, FILE.subarray(0, CUT), Math.min(start + CUT, 2.5 * CUT));
    };
    answer(endless);
    await expect(download(undefined, undefined, 2.5 * CUT)).rejects.toMatchObject({
      code: 'INVALID_SOURCE',
      message: expect.stringContaining('larger than'),
    });
    expect([asked.length, await kept()]).toEqual([3, []]);
  });

  test.each<[string, Record<string, string>]>([
    ['no version', {}],
    ['a weak ETag', { etag: 'W/"v1"' }],
    ['an encoding', { etag: '"v1"', 'content-encoding': 'gzip' }],
    ['no ranges', { etag: '"v1"', 'accept-ranges': 'none' }],
  ])('is not continued when the file has %s', async (_title, headers) => {
    answer(cut(headers), rest());
    await expect(download()).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
    expect([asked.length, await kept()]).toEqual([1, []]);
  });

  test('is continued later when the server stays unreachable, also by another process', async () => {
    answer(cut(), (response) => void response.destroy());
    await expect(download()).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
    expect(asked).toHaveLength(1 + MAX_INTERRUPTIONS);
    expect(clock.pauses).toEqual([1000, 2000, 4000, 8000]);
    partials = new PartialDownloads(join(folder, 'partial'), clock);
    asked = [];
    answer(whole(), rest());
    expect(`sha256:${await download(`${server.url('/a.img')}#${digestOf(FILE)}`)}`).toBe(digestOf(FILE));
    expect(asked[1]).toEqual([`bytes=${CUT}-`, '"v1"']);
    await expectFile(FILE);
  });

  test('begins again later when the file has changed since', async () => {
    answer(cut(), (response) => void response.writeHead(503).end());
    await expect(download()).rejects.toMatchObject({ code: 'BACKEND_FAILED' });
    expect(await kept()).toHaveLength(1);
    answer(whole(CHANGED, { etag: '"v2"' }));
    await download();
    await expectFile(CHANGED);
  });

  test('is not continued when the server no longer has the file', async () => {
    answer(cut(), (response) => void response.writeHead(404).end());
    await expect(download()).rejects.toMatchObject({ code: 'INVALID_SOURCE' });
    expect([asked.length, await kept()]).toEqual([2, []]);
  });

  test('is not continued at a private address', async () => {
    const secret = await HttpServer.listen();
    secret.serve('/meta', FILE);
    answer(cut(), (response) => void response.writeHead(302, { location: secret.url('/meta') }).end());
    await expect(download()).rejects.toMatchObject({ code: 'INVALID_SOURCE' });
    expect([secret.requests, await kept()]).toEqual([[], []]);
    await secret.close();
  });

  test('ends after its total time, however often it is continued', async () => {
    let bytes = 0;
    answer((response, start) => {
      bytes = start + 1;
      clock.advance(2 * 60 * 60_000);
      response.writeHead(start === 0 ? 200 : 206, {
        etag: '"v1"',
        'content-length': FILE.length - start,
        ...(start > 0 && { 'content-range': `bytes ${start}-${FILE.length - 1}/${FILE.length}` }),
      });
      breakAfter(response, FILE.subarray(start, bytes), bytes);
    });
    await expect(download()).rejects.toBeDefined();
    expect(asked.length).toBeLessThanOrEqual(4);
  });

  test('of another file that was interrupted gives way when space is needed', async () => {
    const other = await partials.open('https://images.example/other.img');
    await other.restart('"v1"', 100);
    await other.append(Buffer.from('x'));
    await other.keep();
    freeBytes = async () => ((await kept()).length > 1 ? 0 : 1e12);
    answer(whole());
    await download();
    await expectFile(FILE);
  });

  test('is deleted when its checksum is wrong, and reports both', async () => {
    answer(cut(), rest());
    const expected = digestOf(CHANGED);
    await expect(download(`${server.url('/a.img')}#${expected}`)).rejects.toMatchObject({
      code: 'BACKEND_FAILED',
      message: expect.stringMatching(new RegExp(`${digestOf(FILE)}.*${expected}`)),
    });
    expect([await kept(), await readdir(folder)]).toEqual([[], ['partial']]);
  });

  test.each([
    ['leaves nothing when it is canceled', false, new Error('canceled'), 0],
    ['is kept when the tasks of the service end', false, new ServiceShutdown('The service stops.'), 1],
    ['is kept when the backend is closed', true, undefined, 1],
  ])('%s', async (_title, isClosing, reason, left) => {
    const abort = new AbortController();
    answer((response) => {
      response.writeHead(200, { 'content-length': FILE.length, etag: '"v1"' });
      response.write(FILE.subarray(0, CUT));
    });
    const running = download(undefined, abort.signal);
    running.catch(() => undefined);
    while ((await stored()) < CUT) await new Promise((resolve) => setImmediate(resolve));
    if (isClosing) partials.interrupt();
    abort.abort(reason);
    await expect(running).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(await kept()).toHaveLength(left);
  });
});

describe('validatorOf', () => {
  const date = 'Thu, 01 Jan 2026 00:10:00 GMT';
  test.each<[Record<string, string>, string | undefined]>([
    [{ etag: '"a"' }, '"a"'],
    [{ etag: '"a"', 'last-modified': date, date }, '"a"'],
    [{ etag: 'W/"a"' }, undefined],
    [{ etag: 'a' }, undefined],
    [{ etag: `"${'a'.repeat(2000)}"` }, undefined],
    [{ 'last-modified': 'Thu, 01 Jan 2026 00:09:00 GMT', date }, 'Thu, 01 Jan 2026 00:09:00 GMT'],
    [{ 'last-modified': 'Thu, 01 Jan 2026 00:09:30 GMT', date }, undefined],
    [{ 'last-modified': 'Thu, 01 Jan 2026 00:09:00 GMT' }, undefined],
    [{ 'last-modified': 'yesterday', date }, undefined],
    [{}, undefined],
  ])('accepts a strong ETag or a settled date only, case %#', (headers, validator) => {
    expect(validatorOf(new Headers(headers))).toBe(validator);
  });
});
