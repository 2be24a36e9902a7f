import type { VmView } from '@headgate/api-contracts';
import { Api } from './api.js';
import { RunningService } from './running-service.js';
import { Terminal } from './terminal.js';
import { until } from './until.js';

describe('npm start -- --sandbox', () => {
  let service: RunningService;
  let api: Api;

  beforeAll(async () => {
    service = await RunningService.start(['--sandbox=30']);
    api = new Api(service.url);
  }, 600_000);
  afterAll(() => service?.stop());

  test('says plainly that nothing real runs, to a person and to clients', async () => {
    expect(service.said).toMatch(/its cluster and its guests are simulated, nothing real runs/);
    const { body } = await api.send<{ contexts: { simulated: boolean }[] }>('GET', '/api/capabilities');
    expect(body.contexts).toMatchObject([{ simulated: true }]);
  });

  test('shows the fleet that it was asked for', async () => {
    const { body } = await api.send<VmView[]>('GET', '/api/vms');
    expect(body).toHaveLength(30);
    expect(new Set(body.map(({ status }) => status)).size).toBeGreaterThan(1);
  });

  test('makes a VM that runs, whose simulated guest answers on its serial console, and removes it', async () => {
    const made = await api.send('POST', '/api/vms', {
      name: 'hgtest',
      containerDisk: 'images/tiny:1',
      mem: '1Gi',
      start: true,
    });
    expect([made.status, made.body]).toEqual([
      201,
      { name: 'hgtest', namespace: 'tailvm', ref: 'vm/sandbox/tailvm/hgtest' },
    ]);
    await api.untilVm('hgtest', 'runs', (vm) => vm?.status === 'Running');
    const terminal = await Terminal.open(`${service.socketUrl}/api/tty/tailvm/hgtest`);
    terminal.type('\r');
    await terminal.expect(/login: /);
    await terminal.close();
    const screen = await Terminal.open(`${service.socketUrl}/api/vnc/tailvm/hgtest`);
    await screen.expect(/^RFB 003\./);
    await screen.close();
    expect((await api.send('DELETE', '/api/vms/tailvm/hgtest')).body).toEqual({ status: 'deleted' });
    await api.untilVm('hgtest', 'is gone', (vm) => vm === undefined);
  });

  test('migrates a running VM, followed as a task', async () => {
    const running = (await api.send<VmView[]>('GET', '/api/vms?q=running')).body.find((vm) => vm.liveMigratable);
    expect(running).toBeDefined();
    const accepted = await api.send<{ task: string; status: string }>(
      'POST',
      `/api/vms/${running?.namespace}/${running?.name}/migrate`,
      {},
    );
    expect([accepted.status, accepted.body.status]).toEqual([202, 'ok']);
    expect(accepted.body.task).toMatch(/^migrate-/);
    expect(await api.untilTask(accepted.body.task)).toMatchObject({ status: 'done', error: '', progress: 1 });
  });

  test('runs containers: a shell, stop, start and delete', async () => {
    const made = await api.send('POST', '/api/cts', { name: 'hgtest-ct', image: 'debian:12' });
    expect(made.status).toBe(201);
    const phase = async (): Promise<string | undefined> =>
      (await api.send<{ name: string; phase: string }[]>('GET', '/api/cts')).body.find(
        ({ name }) => name === 'hgtest-ct',
      )?.phase;
    await until('the container runs', phase, (now) => now === 'Running');
    const shell = await Terminal.open(`${service.socketUrl}/api/tty/tailvm/hgtest-ct`);
    shell.type('echo in-$((40+2))\r');
    await shell.expect(/in-/);
    await shell.close();
    expect((await api.send('POST', '/api/cts/tailvm/hgtest-ct/stop')).body).toEqual({ status: 'ok' });
    await until('the container has stopped', phase, (now) => now === 'Stopped');
    expect((await api.send('POST', '/api/cts/tailvm/hgtest-ct/start')).body).toEqual({ status: 'ok' });
    await until('the container runs again', phase, (now) => now === 'Running');
    expect((await api.send('DELETE', '/api/cts/tailvm/hgtest-ct')).body).toEqual({ status: 'deleted' });
    await until('the container is gone', phase, (now) => now === undefined);
  });
});
