import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { DestinationsView, MoveAcceptedView, MovePlanView, TaskView } from '@headgate/api-contracts';
import { PrivateLibvirtd } from '@headgate/testing';
import { Api } from './api.js';
import { reportGuest } from './guest-report.js';
import { leftoversOf, removeLeftovers } from './leftovers.js';
import { describeIf, noGuestsBecause } from './machine.js';
import { processesWith } from './processes.js';
import { RunningService } from './running-service.js';
import { SimulatedCluster } from './simulated-cluster.js';
import { Terminal } from './terminal.js';
import { until } from './until.js';

const START_TIMEOUT_MS = 600_000;
const BOOT_TIMEOUT_MS = 900_000;

const RECORD_BYTES = 256 * 1024;
const RING_RECORDS = 32;
/**
 * Writes a numbered record of 256 KiB into a ring of files, notes its number, stores both and reports it, up to four
 * times a second: 1 MiB/s. All records have the same content after their number, which costs the guest little to write.
 */
const WRITE_RECORDS = `head -c ${RECORD_BYTES} /dev/urandom > content; { (i=0; while :; do i=$((i+1)); { echo $i; cat content; } > ring.$((i%${RING_RECORDS})); echo $i >> records; sync; echo "saved $i."; sleep 0.2; done) & }`;
const readRecord = (record: number): string => `head -n 1 ring.${record % RING_RECORDS}`;

/** The same for as long as a guest runs. */
const READ_BOOT_ID = 'cat /proc/sys/kernel/random/boot_id';

describeIf(noGuestsBecause(), 'moves between libvirts and a cluster', () => {
  const name = `hgtest-${randomBytes(4).toString('hex')}`;
  const folder = mkdtempSync(join(tmpdir(), 'headgate-moves-'));
  let second: PrivateLibvirtd;
  let third: PrivateLibvirtd;
  let cluster: SimulatedCluster;
  let args: string[];
  let service: RunningService;
  let api: Api;

  beforeAll(async () => {
    [second, third] = [await PrivateLibvirtd.create('second'), await PrivateLibvirtd.create('third')];
    cluster = await SimulatedCluster.start('cluster');
    for (const machine of [second, third]) {
      await machine.start();
      await machine.virsh('pool-define-as', 'headgate', 'dir', '--target', machine.images);
      await machine.virsh('pool-start', 'headgate');
    }
    const config = SimulatedCluster.configure(folder, [cluster]);
    const { contexts } = JSON.parse(readFileSync(config, 'utf8')) as { contexts: object[] };
    writeFileSync(
      config,
      JSON.stringify({
        contexts: [
          ...contexts,
          { name: 'there', kind: 'libvirt', uri: second.uri },
          // Its host name is that of no machine.
          { name: 'third', kind: 'libvirt', uri: third.uri, migrationAddress: '127.0.0.1' },
        ],
      }),
    );
    args = ['--local', '--config', config];
    service = await RunningService.start(args);
    api = new Api(service.url);
  }, START_TIMEOUT_MS);

  afterAll(async () => {
    for (const letter of ['a', 'b', 'c', 'd']) await removeLeftovers(`${name}-${letter}`);
    await service?.stop();
    await second?.close();
    await third?.close();
    await cluster?.close();
    rmSync(folder, { recursive: true, force: true });
  }, START_TIMEOUT_MS);

  const leftoversOnSecond = async (vm: string): Promise<string[]> =>
    [...(await second.domains()), ...(await second.volumes())].filter((one) => one.includes(vm));
  const create = async (vm: string, { disk = '64Mi', context = 'local' } = {}): Promise<void> => {
    const spec = { name: vm, context, image: 'tiny', cpu: 1, mem: '192Mi', disk };
    expect((await api.send('POST', '/api/vms', spec)).status).toBe(201);
    await api.untilVm(vm, 'is stopped', (one) => one?.status === 'Stopped');
  };
  const entry = async (vm: string, context: string) =>
    (
      await api.send<{ name: string; context: string; status: string; tags: string[]; folder?: string }[]>(
        'GET',
        '/api/vms',
      )
    ).body.find((one) => one.name === vm && one.context === context);
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
    const terminal = await Terminal.open(`${service.socketUrl}/api/tty/local/${vm}?context=${context}`, () =>
      reportGuest(vm),
    );
    await terminal.expect(/login: $/);
    await terminal.logIn('headgate', 'headgate');
    return terminal;
  };
  const move = (vm: string, more: object = {}, from = 'local') =>
    api.send<MoveAcceptedView & MovePlanView & { error: string }>('POST', '/api/move', {
      ref: `vm/${from}/local/${vm}`,
      toBackend: 'libvirt',
      toContext: 'there',
      ...more,
    });

  test('list the destinations', async () => {
    const { body } = await api.send<DestinationsView>('GET', '/api/move/destinations');
    expect(body.destinations).toContainEqual({ backend: 'libvirt', context: 'there', can: true });
    const contexts = body.destinations.map(({ context }) => context);
    // It is there where Incus or LXD is installed.
    const others = contexts.filter((context) => context !== 'local-containers');
    expect(others.sort()).toEqual(['cluster', 'local', 'there', 'third']);
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
      expect(refused.body.refusals.map(({ code }) => code)).toEqual(
        expect.arrayContaining(['SOURCE_NOT_KEPT', 'INVALID_NAME']),
      );
      const accepted = await move(vm, { deleteSource: true });
      expect([accepted.status, accepted.body.plan.estimatedDowntimeSeconds]).toEqual([200, expect.any(Number)]);
      const task = await api.untilTask(accepted.body.task);
      expect(task).toMatchObject({ status: 'done', kind: 'move' });
      const copy = await until(
        'the copy is listed in its folder',
        () => entry(vm, 'there'),
        (one) => one?.status === 'Stopped' && one.folder === 'fleet',
      );
      expect(copy?.tags).toEqual(['moved']);
      await until(
        'nothing of the source is left',
        () => leftoversOf(vm),
        (left) => left.length === 0,
      );

      const back = await move(vm, { toContext: 'local', deleteSource: true }, 'there');
      expect(await api.untilTask(back.body.task)).toMatchObject({ status: 'done' });
      await until(
        'nothing is left there',
        () => leftoversOnSecond(vm),
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
    'lose no record of a guest that writes while it is copied, and stop it only for the rest',
    async () => {
      const vm = `${name}-d`;
      await create(vm, { disk: '256Mi' });
      await start(vm, 'local');
      const writer = await logIn(vm, 'local');
      await writer.run(WRITE_RECORDS);
      const earlier = await writer.expect(/saved 3\./);
      const { body } = await move(vm, { mode: 'warm', deleteSource: true });
      expect(body.plan).toMatchObject({ ok: true, mode: 'warm', estimatedDowntimeSeconds: expect.any(Number) });
      const task = await api.untilTask(body.task);
      expect(task).toMatchObject({ status: 'done', kind: 'move' });
      // The guest has written during the copy of the whole disk, so that there were changes to copy.
      const result = task.result as Record<string, number>;
      expect(result['recopiedBytes']).toBeGreaterThan(0);
      expect(result['downtimeSeconds']).toBeGreaterThan(0);
      expect(result['promisedDowntimeSeconds']).toBeGreaterThan(0);
      expect(result['shutdownSeconds']).toBeLessThanOrEqual(result['downtimeSeconds'] ?? 0);
      // On a busy machine, the guest may not have completed another record.
      const reports = [...`${earlier}${writer.seen}`.matchAll(/saved (\d+)\./g)];
      const saved = Math.max(...reports.map(([, digits]) => Number(digits)));
      await until(
        'nothing of the source is left',
        () => leftoversOf(vm),
        (left) => left.length === 0,
      );

      await start(vm, 'there');
      const reader = await logIn(vm, 'there');
      const last = Number(await reader.run('tail -n 1 records'));
      expect(last).toBeGreaterThanOrEqual(saved);
      expect(Number(await reader.run('wc -l < records'))).toBe(last);
      for (const record of [last, last - 1, last - 2])
        expect(Number(await reader.run(readRecord(record)))).toBe(record);
      await reader.close();
    },
    BOOT_TIMEOUT_MS,
  );

  test(
    'take a guest that runs to another libvirt without stopping it',
    async () => {
      const vm = `${name}-e`;
      await create(vm, { context: 'there' });
      await api.send('POST', '/api/folders', { path: 'live' });
      await api.send('POST', '/api/folders/members', { path: 'live', ref: `vm/there/local/${vm}` });
      await start(vm, 'there');
      const before = await logIn(vm, 'there');
      const bootId = await before.run(READ_BOOT_ID);
      expect(bootId).toMatch(/^[0-9a-f-]{36}$/);
      await before.run('kept="in its memory"; echo on its disk > kept; sync');
      await before.close();

      const accepted = await move(vm, { mode: 'live', toContext: 'third', deleteSource: true }, 'there');
      expect(accepted.body.refusals ?? accepted.body.plan.refusals).toEqual([]);
      const task = await api.untilTask(accepted.body.task);
      expect(task).toMatchObject({
        status: 'done',
        kind: 'move',
        result: { destination: `vm/third/local/${vm}`, downtimeSeconds: expect.any(Number) },
      });
      await until(
        'the guest is listed only where it runs',
        async () => [await entry(vm, 'there'), await entry(vm, 'third')] as const,
        ([there, here]) => there === undefined && here?.status === 'Running' && here.folder === 'live',
      );
      await until(
        'nothing but the log of its serial port is left there',
        async () => (await leftoversOnSecond(vm)).filter((one) => !one.endsWith('.log')),
        (left) => left.length === 0,
      );

      const after = await Terminal.open(`${service.socketUrl}/api/tty/local/${vm}?context=third`);
      expect(await after.run(READ_BOOT_ID)).toBe(bootId);
      expect(await after.run('echo "$kept"; cat kept')).toBe('in its memory\non its disk');
      await after.close();
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
        ref: `vm/cluster/tailvm/${vm}`,
        toBackend: 'libvirt',
        toContext: 'there',
      });
      expect(await api.untilTask(body.task)).toMatchObject({ status: 'done' });
      const copy = await exported('there', 'local');
      expect(copy.subarray(0, original.length).equals(original)).toBe(true);
      expect(copy.subarray(original.length).every((byte) => byte === 0)).toBe(true);
      const back = await api.send<MoveAcceptedView>('POST', '/api/move', {
        ref: `vm/there/local/${vm}`,
        toBackend: 'kubevirt',
        name: `${vm}-back`,
        deleteSource: true,
      });
      expect(await api.untilTask(back.body.task)).toMatchObject({ status: 'done' });
      expect((await exported('cluster', 'tailvm', `${vm}-back`)).equals(copy)).toBe(true);
      await until(
        'nothing is left there',
        () => leftoversOnSecond(vm),
        (left) => left.length === 0,
      );
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
        async () => ['qemu-nbd', 'qemu-img'].flatMap(processesWith).filter((one) => one.includes(vm)),
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
      await until(
        'the source is listed',
        () => entry(vm, 'local'),
        (one) => one?.status === 'Stopped',
      );
      await start(vm, 'local');
    },
    BOOT_TIMEOUT_MS,
  );
});
