import { randomBytes } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Api } from './api.js';
import { leftoversOf, removeLeftovers } from './leftovers.js';
import { describeIf, noGuestsBecause } from './machine.js';
import { processesWith } from './processes.js';
import { RunningService } from './running-service.js';
import { until } from './until.js';

/** The image comes from this machine, which imports do not reach otherwise. */
const IMPORTS = { SVC_IMPORT_ALLOW: '127.0.0.1' };

describeIf(noGuestsBecause(), 'a service that is killed during an import', () => {
  const name = `hgtest-${randomBytes(4).toString('hex')}`;
  let image: Server;
  let service: RunningService;
  const asked: ServerResponse[] = [];

  beforeAll(async () => {
    // An image that never ends.
    image = createServer((_request, response) => {
      response.writeHead(200, { 'content-length': String(64 * 1024 ** 2) });
      response.write(Buffer.alloc(1024 ** 2));
      asked.push(response);
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => image.once('listening', resolve));
    service = await RunningService.start(['--local'], { env: IMPORTS });
  }, 600_000);

  afterAll(async () => {
    for (const response of asked) response.destroy();
    image?.close();
    await service?.stop();
    await removeLeftovers(name);
  });

  test('keeps the VM without a disk until it is deleted, and marks the task as interrupted', async () => {
    const url = `http://127.0.0.1:${(image.address() as AddressInfo).port}/disk.raw`;
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
    await until(
      'the image is asked for',
      async () => asked.length,
      (count) => count > 0,
    );

    const { dataDir } = service;
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
