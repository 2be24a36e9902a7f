import 'reflect-metadata';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import type { DiskExport } from '@headgate/domain-contracts';
import { Edge } from '../testing/edge.js';

const EXPORT = '/api/vms/default/web/export';

describe('the export of a disk', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = await new Edge().open();
  });
  afterEach(() => edge.close());

  /** A request over a real connection, which a test can leave. */
  const download = async (path: string): Promise<IncomingMessage> => {
    const request = get(`http://${edge.base}${path}`, { headers: { host: 'localhost:8006' } });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return response;
  };

  /** Replaces the disk with an endless one that counts the bytes that were read. */
  const endlessDisk = (): { readonly closed: Promise<void>; bytes: number } => {
    let close = (): void => undefined;
    const disk = { bytes: 0, closed: new Promise<void>((resolve) => (close = resolve)) };
    const chunk = Buffer.alloc(65_536, 1);
    (edge.lab.require('diskExport') as DiskExport).open = async () =>
      new Readable({
        read() {
          disk.bytes += chunk.length;
          this.push(chunk);
        },
        destroy(error, done) {
          close();
          done(error);
        },
      });
    return disk;
  };

  test('is the raw image, compressed with gzip, under the name of the VM', async () => {
    const response = await download(EXPORT);
    expect([response.statusCode, response.headers['content-type'], response.headers['content-disposition']]).toEqual([
      200,
      'application/gzip',
      'attachment; filename="web.img.gz"',
    ]);
    expect(response.headers['content-encoding']).toBeUndefined();
    expect(gunzipSync(await buffer(response)).toString('latin1', 1024, 1027)).toBe('web');
  });

  test('is a qcow2 image on request', async () => {
    const response = await download(`${EXPORT}?format=qcow2`);
    expect([response.statusCode, response.headers['content-type'], response.headers['content-disposition']]).toEqual([
      200,
      'application/octet-stream',
      'attachment; filename="web.qcow2"',
    ]);
    expect((await buffer(response)).toString('latin1', 0, 4)).toBe('QFI\xfb');
  });

  test('is refused while the VM runs, for a VM that does not exist, and in other formats', async () => {
    const running = await edge.send('GET', '/api/vms/default/db/export');
    expect([running.status, running.json.code]).toEqual([409, 'WRONG_STATE']);
    expect((await edge.send('GET', '/api/vms/default/none/export')).status).toBe(404);
    expect((await edge.send('GET', `${EXPORT}?format=vmdk`)).status).toBe(400);
    expect((await edge.send('GET', `${EXPORT}?format=raw.gz`)).status).toBe(400);
  });

  test('is for administrators while an allowlist exists, and audited', async () => {
    await edge.reopen({ SVC_ADMINS: 'ann' });
    expect((await edge.send('GET', EXPORT, undefined, { 'tailscale-user-login': 'eve' })).status).toBe(403);
    expect((await edge.send('HEAD', EXPORT, undefined, { 'tailscale-user-login': 'eve' })).status).toBe(403);
    expect((await edge.send('GET', EXPORT, undefined, { 'tailscale-user-login': 'ann' })).status).toBe(200);
    const { body } = await edge.send('GET', '/api/vms/default/web/events');
    expect(body).toContain('export disk as raw.gz');
  });

  test('opens nothing for HEAD', async () => {
    const disk = endlessDisk();
    const { status, headers } = await edge.send('HEAD', EXPORT);
    expect([status, headers['content-type'], disk.bytes]).toEqual([200, 'application/gzip', 0]);
  });

  test('ends when the client leaves', async () => {
    const disk = endlessDisk();
    const response = await download(EXPORT);
    await once(response, 'data');
    response.on('error', () => undefined).destroy();
    await disk.closed;
  });

  test('reads no more of the disk than a slow client takes', async () => {
    const disk = endlessDisk();
    const response = await download(EXPORT);
    response.pause();
    await once(response, 'readable');
    // When nothing was read between two looks, the buffers of the connection are full.
    let before = -1;
    while (before !== disk.bytes) {
      before = disk.bytes;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(disk.bytes).toBeLessThan(32 * 1024 ** 2);
    response.on('error', () => undefined).destroy();
    await disk.closed;
  });

  test('is limited to four at the same time', async () => {
    endlessDisk();
    const responses = await Promise.all([1, 2, 3, 4].map(() => download(EXPORT)));
    expect(responses.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200]);
    const fifth = await edge.send('GET', EXPORT);
    expect([fifth.status, fifth.json.code]).toEqual([409, 'BUSY']);
    for (const response of responses) response.on('error', () => undefined).destroy();
  });

  test('ends when the service ends', async () => {
    const disk = endlessDisk();
    const response = await download(EXPORT);
    response.on('error', () => undefined).resume();
    await edge.service.close();
    await disk.closed;
    await edge.open();
  });
});
