import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { DestinationsView, MoveAcceptedView, MovePlanView, TaskView } from '@headgate/api-contracts';
import { Api } from './api.js';
import { leftoversOf, removeLeftovers } from './leftovers.js';
import { describeIf, noGuestsBecause } from './machine.js';
import { processesWith } from './processes.js';
import { RunningService } from './running-service.js';
import { SecondLibvirtd } from './second-libvirtd.js';
import { SimulatedCluster } from './simulated-cluster.js';
import { Terminal } from './terminal.js';
import { until } from './until.js';

const START_TIMEOUT_MS = 600_000;
const BOOT_TIMEOUT_MS = 400_000;

describeIf(noGuestsBecause(), 'moves between two libvirts and a cluster', () => {
  const name = `hgtest-${randomBytes(4).toString('hex')}`;
  const folder = mkdtempSync(join(tmpdir(), 'headgate-moves-'));
  let second: SecondLibvirtd;
  let cluster: SimulatedCluster;
  let args: string[];
  let service: RunningService;
  let api: Api;

  beforeAll(async () => {
    [second, cluster] = [await SecondLibvirtd.start(), await SimulatedCluster.start('cluster')];
    const config = SimulatedCluster.configure(folder, [cluster]);
    const { contexts } = JSON.parse(readFileSync(config, 'utf8')) as { contexts: object[] };
    writeFileSync(
      config,
      JSON.stringify({ contexts: [...contexts, { name: 'there', kind: 'libvirt', uri: second.uri }] }),
    );
    args = ['--local', '--config', config];
    service = await RunningService.start(args);
    api = new Api(service.url);
  }, START_TIMEOUT_MS);

  afterAll(async () => {
    await service?.stop();
    for (const letter of ['a', 'b', 'c']) await removeLeftovers(`${name}-${letter}`);
    await second?.stop();
    await cluster?.close();
    rmSync(folder, { recursive: true, force: true });
  }, START_TIMEOUT_MS);

  const create = async (vm: string): Promise<void> => {
    const spec = { name: vm, context: 'local', image: 'tiny', cpu: 1, mem: '192Mi', disk: '64Mi' };
    expect((await api.send('POST', '/api/vms', spec)).status).toBe(201);
    await api.untilVm(vm, 'is stopped', (one) => one?.status === 'Stopped');
  };
  const entry = async (vm: string, context: string) =>
    (await api.send<{ name: string; context: string; status: string; tags: string[] }[]>('GET', '/api/vms')).body.find(
      (one) => one.name === vm && one.context === context,
    );
  const start = async (vm: string, context: string): Promise<void> => {
    expect(await api.send('POST', `/api/vms/local/${vm}/start?context=${context}`)).toEqual({
      status: 200,
      body: { status: 'ok' },
    });
    await until(
      `${vm} runs`,
      () => entry(vm, context),
      (one) => one?.status === 'Running',
    );
  };
  const logIn = async (vm: string, context: string): Promise<Terminal> => {
    const terminal = await Terminal.open(`${service.socketUrl}/api/tty/local/${vm}?context=${context}`);
    await terminal.expect(/login: $/);
    await terminal.logIn('headgate', 'headgate');
    return terminal;
  };
  const move = (vm: string, more: object = {}, from = 'local') =>
    api.send<MoveAcceptedView & MovePlanView & { error: string }>('POST', '/api/move', {
      ...{ ref: `vm/${from}/local/${vm}`, toBackend: 'libvirt', toContext: 'there', ...more },
    });

  test('list the destinations', async () => {
    const { body } = await api.send<DestinationsView>('GET', '/api/move/destinations');
    expect(body.destinations).toContainEqual({ backend: 'libvirt', context: 'there', can: true });
    expect(body.destinations.map(({ context }) => context).sort()).toEqual(['cluster', 'local', 'there']);
  });

  test(
    'take a guest to the other libvirt and back, where it boots with the file that it wrote before',
    async () => {
      const vm = `${name}-a`;
      await create(vm);
      await api.send('POST', `/api/vms/local/${vm}/tags`, { tag: 'moved', on: true });
      await api.send('POST', '/api/folders', { path: 'fleet' });
      await api.send('POST', '/api/folders/members', { path: 'fleet', ref: `vm/local/local/${vm}` });
      await start(vm, 'local');
      const before = await logIn(vm, 'local');
      await before.run('echo written before > kept; sync');
      await before.close();

      const refused = await move(vm, { mode: 'live', name: 'x-' });
      expect([refused.status, refused.body.ok]).toEqual([409, false]);
      expect(refused.body.refusals.map(({ code }) => code)).toEqual(['MODE_NOT_SUPPORTED', 'INVALID_NAME']);
      const accepted = await move(vm, { deleteSource: true });
      expect([accepted.status, accepted.body.plan.estimatedDowntimeSeconds]).toEqual([200, expect.any(Number)]);
      const task = await api.untilTask(accepted.body.task);
      expect(task).toMatchObject({ status: 'done', kind: 'move' });
      expect(await entry(vm, 'there')).toMatchObject({ status: 'Stopped', tags: ['moved'], folder: 'fleet' });
      await until(
        'nothing of the source is left',
        () => leftoversOf(vm),
        (left) => left.length === 0,
      );

      const back = await move(vm, { toContext: 'local', deleteSource: true }, 'there');
      expect(await api.untilTask(back.body.task)).toMatchObject({ status: 'done' });
      await until(
        'nothing is left there',
        () => second.leftoversOf(vm),
        (left) => left.length === 0,
      );
      await start(vm, 'local');
      const after = await logIn(vm, 'local');
      expect(await after.run('cat kept')).toBe('written before');
      await after.close();
      expect((await api.send('DELETE', `/api/vms/local/${vm}?context=local`)).status).toBe(200);
    },
    BOOT_TIMEOUT_MS,
  );

  test(
    'take the disk of a VM of the cluster to libvirt and back',
    async () => {
      const vm = `${name}-b`;
      const spec = { name: vm, context: 'cluster', import: 'https://images.example/fedora.qcow2', disk: '16Mi' };
      expect((await api.send('POST', '/api/vms', spec)).status).toBe(201);
      await api.untilVm(vm, 'is stopped', (one) => one?.status === 'Stopped');
      const exported = async (context: string, namespace: string, instance = vm): Promise<Buffer> => {
        const answer = await fetch(`${service.url}/api/vms/${namespace}/${instance}/export?context=${context}`);
        expect(answer.status).toBe(200);
        return gunzipSync(Buffer.from(await answer.arrayBuffer()));
      };
      const original = await exported('cluster', 'tailvm');
      const { body } = await api.send<MoveAcceptedView>('POST', '/api/move', {
        ...{ ref: `vm/cluster/tailvm/${vm}`, toBackend: 'libvirt', toContext: 'there' },
      });
      expect(await api.untilTask(body.task)).toMatchObject({ status: 'done' });
      const copy = await exported('there', 'local');
      expect(copy.subarray(0, original.length).equals(original)).toBe(true);
      expect(copy.subarray(original.length).every((byte) => byte === 0)).toBe(true);
      const back = await api.send<MoveAcceptedView>('POST', '/api/move', {
        ...{ ref: `vm/there/local/${vm}`, toBackend: 'kubevirt', name: `${vm}-back`, deleteSource: true },
      });
      expect(await api.untilTask(back.body.task)).toMatchObject({ status: 'done' });
      expect((await exported('cluster', 'tailvm', `${vm}-back`)).equals(copy)).toBe(true);
      expect(await second.leftoversOf(vm)).toEqual([]);
    },
    BOOT_TIMEOUT_MS,
  );

  test(
    'continue after the service was killed, and leave nothing incomplete behind',
    async () => {
      const vm = `${name}-c`;
      await create(vm);
      const { body } = await move(vm);
      await until(
        'the copy has begun',
        async () => (await api.send<TaskView>('GET', `/api/tasks/${body.task}`)).body,
        ({ steps }) => steps.some((step) => step.name === 'copy'),
      );
      const { dataDir } = service;
      for (const line of processesWith(dataDir).filter((one) => one.includes('main.js')))
        process.kill(Number.parseInt(line, 10), 'SIGKILL');
      await service.interrupt();
      await until(
        'no program of the killed service holds the disk',
        async () => processesWith('qemu-nbd').filter((one) => one.includes(vm)),
        (programs) => programs.length === 0,
      );
      service = await RunningService.start(args, { dataDir });
      api = new Api(service.url);
      const task = await api.untilTask(body.task);
      expect(task.status).toBe('done');
      await until(
        'the copy is complete',
        () => entry(vm, 'there'),
        (one) => one?.status === 'Stopped',
      );
      expect(await entry(vm, 'local')).toMatchObject({ status: 'Stopped' });
      await start(vm, 'local');
    },
    BOOT_TIMEOUT_MS,
  );
});
