import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FixedClock } from '@headgate/testing';
import { HttpServer } from './testing/http-server.js';
import { EgressPolicy } from './egress-policy.js';
import { SpaceGuard } from './limits.js';
import { openCloudImage } from './open-cloud-image.js';
import { PartialDownloads } from './partial-downloads.js';

const IMAGE = Buffer.alloc(300_000, 'disk');
const HEX = createHash('sha512').update(IMAGE).digest('hex');

describe('openCloudImage', () => {
  let server: HttpServer;
  let folder: string;
  const clock = new FixedClock();

  beforeEach(async () => {
    server = await HttpServer.listen();
    folder = await mkdtemp(join(tmpdir(), 'hgtest-cloud-'));
    server.serve('/debian.qcow2', IMAGE);
    server.serve('/SHA512SUMS', `${HEX}  debian.qcow2\n`);
  });
  afterEach(async () => {
    await server.close();
    await rm(folder, { recursive: true });
    expect(clock.pending).toBe(0);
  });

  const openIt = () =>
    openCloudImage(
      { egress: new EgressPolicy({ allow: ['127.0.0.1'] }), clock },
      { url: server.url('/debian.qcow2'), checksums: server.url('/SHA512SUMS') },
      new AbortController().signal,
    );
  const save = async () =>
    (await openIt()).save(join(folder, 'image'), {
      onBytes: () => undefined,
      maxBytes: 2 * IMAGE.length,
      space: new SpaceGuard(folder, () => Promise.resolve(1e12)),
      partials: new PartialDownloads(join(folder, 'partial'), clock),
    });

  test('is identified by the list of its publisher, without a request for the image', async () => {
    const first = await openIt();
    expect(first.identity).toContain(HEX);
    expect((await openIt()).identity).toBe(first.identity);
    expect(server.requests).toEqual(['/SHA512SUMS', '/SHA512SUMS']);
    server.serve('/SHA512SUMS', `${'0'.repeat(128)}  debian.qcow2\n`);
    expect((await openIt()).identity).not.toBe(first.identity);
  });

  test('saves an image that matches the list', async () => {
    await save();
    expect((await readFile(join(folder, 'image'))).equals(IMAGE)).toBe(true);
  });

  test('deletes an image that does not match, and reports both checksums', async () => {
    const listed = '0'.repeat(128);
    server.serve('/SHA512SUMS', `${listed}  debian.qcow2\n`);
    await expect(save()).rejects.toMatchObject({
      code: 'BACKEND_FAILED',
      message: expect.stringMatching(new RegExp(`${HEX}.*${listed}`)),
    });
    expect([await readdir(folder), await readdir(join(folder, 'partial'))]).toEqual([['partial'], []]);
  });

  test('does not request an image that the list does not have', async () => {
    server.serve('/SHA512SUMS', `${HEX}  other.qcow2\n`);
    await expect(save()).rejects.toMatchObject({ code: 'INVALID_SOURCE' });
    expect(server.requests).toEqual(['/SHA512SUMS']);
  });
});
