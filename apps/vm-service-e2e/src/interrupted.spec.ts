import { randomBytes } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { readdirSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Api } from './api.js';
import { leftoversOf, removeLeftovers } from './leftovers.js';
import { describeIf, noGuestsBecause } from './machine.js';
import { processesWith } from './processes.js';
import { RunningService } from './running-service.js';
import { until } from './until.js';

const MIB = 1024 ** 2;
const IMAGE_BYTES = 96 * MIB;
/** More than the service downloads between two entries of its journal. */
const FIRST_BYTES = 80 * MIB;
/** The image comes from this machine, which imports do not reach otherwise. */
const IMPORTS = { SVC_IMPORT_ALLOW: '127.0.0.1' };

describeIf(noGuestsBecause(), 'a service that is killed during an import', () => {
  const name = `hgtest-${randomBytes(4).toString('hex')}`;
  let image: Server;
  let service: RunningService;
  const asked: ServerResponse[] = [];
  /** The places in the image at which the service has continued. */
  const continuedAt: number[] = [];
  const urlOf = (path: string): string => `http://127.0.0.1:${(image.address() as AddressInfo).port}/${path}`;

  /** The download ends before the image does, unless the rest is requested. */
  const sendImage = (range: string | undefined, response: ServerResponse): void => {
    const start = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0);
    if (start > 0) continuedAt.push(start);
    response.writeHead(start > 0 ? 206 : 200, {
      etag: '"v1"',
      'content-length': IMAGE_BYTES - start,
      ...(start > 0 && { 'content-range': `bytes ${start}-${IMAGE_BYTES - 1}/${IMAGE_BYTES}` }),
    });
    if (start > 0) response.end(Buffer.alloc(IMAGE_BYTES - start));
    else response.write(Buffer.alloc(FIRST_BYTES));
  };

  beforeAll(async () => {
    image = createServer(({ url, headers }, response) => {
      asked.push(response);
      if (url === '/image.raw') return sendImage(headers.range, response);
      // An image that never ends.
      response.writeHead(200, { 'content-length': String(64 * MIB) });
      response.write(Buffer.alloc(MIB));
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => image.once('listening', resolve));
    service = await RunningService.start(['--local'], { env: IMPORTS });
  }, 600_000);

  afterAll(async () => {
    for (const response of asked) response.destroy();
    image?.close();
    await removeLeftovers(name);
    await service?.stop();
  });

  /** How many bytes of the image the service knows to have stored, if it is killed now. */
  const journaledBytes = (folder: string): number => {
    const journal = readdirSync(folder, { recursive: true, encoding: 'utf8' }).find((path) =>
      /partial\/\w+\/journal\.json$/.test(path),
    );
    if (journal === undefined) return 0;
    return (JSON.parse(readFileSync(join(folder, journal), 'utf8')) as { bytes: number }).bytes;
  };

  test('continues the import of an image, and keeps a VM without a disk until it is deleted', async () => {
    const url = urlOf('disk.raw');
    const before = new Api(service.url);
    const created = await before.send<{ task: string }>('POST', '/api/vms', {
      name,
      import: url,
      cpu: 1,
      mem: '128Mi',
      disk: '64Mi',
    });
    expect(created.status).toBe(201);
    await before.untilVm(name, 'is being created', (vm) => vm?.status === 'Provisioning');
    expect((await before.send('POST', `/api/vms/local/${name}/start`)).status).toBe(409);
    const imported = await before.send<{ task: string }>('POST', '/api/datavolumes', {
      name: `${name}-image`,
      url: urlOf('image.raw'),
      size: '128Mi',
    });
    expect(imported.status).toBe(200);
    const { dataDir } = service;
    await until(
      'a part of the image is stored',
      async () => journaledBytes(dataDir),
      (bytes) => bytes > 0,
    );

    for (const line of processesWith(dataDir).filter((one) => one.includes('main.js')))
      process.kill(Number.parseInt(line, 10), 'SIGKILL');
    await service.interrupt();

    service = await RunningService.start(['--local'], { dataDir, env: IMPORTS });
    const after = new Api(service.url);
    await after.untilVm(name, 'has failed', (vm) => vm?.status === 'DataVolumeError');
    expect(await after.untilTask(created.body.task)).toMatchObject({
      status: 'error',
      error: 'interrupted by a restart',
    });
    expect(await after.untilTask(imported.body.task)).toMatchObject({ status: 'done', error: '' });
    expect(continuedAt).toEqual([expect.any(Number)]);
    expect(continuedAt[0]).toBeGreaterThanOrEqual(64 * MIB);
    const images = await after.send<{ name: string; phase: string }[]>('GET', '/api/datavolumes');
    expect(images.body).toMatchObject([{ name: `${name}-image`, phase: 'Succeeded' }]);
    expect((await after.send('DELETE', `/api/datavolumes/local/${name}-image`)).status).toBe(200);
    expect((await after.send('DELETE', `/api/vms/local/${name}`)).status).toBe(200);
    expect(
      await until(
        'everything of it is gone',
        () => leftoversOf(name),
        (left) => left.length === 0,
      ),
    ).toEqual([]);
  });
});
