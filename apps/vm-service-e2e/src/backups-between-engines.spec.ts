import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { BackupPointView, MoveAcceptedView, PlanView, SignedProofView, TaskView } from '@headgate/api-contracts';
import { PrivateLibvirtd } from '@headgate/testing';
import { Api } from './api.js';
import { reportGuest } from './guest-report.js';
import { describeIf, noGuestsBecause } from './machine.js';
import { processesWith } from './processes.js';
import { RunningService } from './running-service.js';
import { SimulatedCluster } from './simulated-cluster.js';
import { Terminal } from './terminal.js';

const TIMEOUT_MS = 900_000;
const HOME = { there: 'local', cluster: 'tailvm' } as const;
const SNAPSHOTS = 'virtualmachinesnapshots.snapshot.kubevirt.io';
const EXPORTS = 'virtualmachineexports.export.kubevirt.io';
type Context = keyof typeof HOME;

interface BackedUp {
  readonly point: string;
  readonly consistency: string;
  readonly sizeBytes: number;
  readonly readBytes: number;
  readonly storedBytes: number;
}

const RECIPE = join(import.meta.dirname, '../../../tools/tiny-guest/build.mjs');
/** The image of the tiny guest, which is built once per machine. */
function tinyGuest(): string {
  const env = { ...process.env, NODE_OPTIONS: '' };
  const said = execFileSync(process.execPath, [RECIPE], { env, encoding: 'utf8' });
  return (JSON.parse(said.trim().split('\n').at(-1) ?? '') as { path: string }).path;
}

/** Guests of QEMU run on libvirt only: the cluster is simulated, and has their disks with real bytes. */
describeIf(noGuestsBecause(), 'backups of a cluster and of libvirt', () => {
  const name = `hgtest-${randomBytes(4).toString('hex')}`;
  const folder = mkdtempSync(join(tmpdir(), 'headgate-backups-'));
  let machine: PrivateLibvirtd;
  let cluster: SimulatedCluster;
  let args: string[];
  let service: RunningService;
  let api: Api;
  let target: string;

  beforeAll(async () => {
    machine = await PrivateLibvirtd.create('second');
    await machine.start();
    await machine.virsh('pool-define-as', 'headgate', 'dir', '--target', machine.images);
    await machine.virsh('pool-start', 'headgate');
    // With the rights of the manifests, and no others.
    cluster = await SimulatedCluster.start('cluster', { deployed: true });
    const backups = join(folder, 'backups');
    mkdirSync(backups);
    const config = SimulatedCluster.configure(folder, [cluster]);
    const given = JSON.parse(readFileSync(config, 'utf8')) as { contexts: object[] };
    const contexts = [...given.contexts, { name: 'there', kind: 'libvirt', uri: machine.uri }];
    writeFileSync(config, JSON.stringify({ ...given, contexts, backups: { folders: [backups] } }));
    args = ['--config', config, '--tiny-guest', tinyGuest()];
    service = await RunningService.start(args);
    api = new Api(service.url);
    const repository = {
      name: 'lab',
      kind: 'directory',
      path: join(backups, 'lab'),
      password: 'correct horse battery',
    };
    const added = await api.send<{ id: string }>('POST', '/api/ext/backups/targets', repository);
    expect(added.status).toBe(201);
    target = added.body.id;
  }, TIMEOUT_MS);

  afterAll(async () => {
    await service?.stop();
    await machine?.close();
    await cluster?.close();
    rmSync(folder, { recursive: true, force: true });
  }, TIMEOUT_MS);

  const at = (vm: string, context: Context, action: string): string =>
    `/api/vms/${HOME[context]}/${vm}/${action}?context=${context}`;
  const power = async (vm: string, context: Context, action: 'start' | 'stop'): Promise<void> => {
    const path = at(vm, context, action) + (action === 'stop' ? '&force=true' : '');
    expect(await api.send('POST', path)).toMatchObject({ status: 200 });
    const wanted = action === 'start' ? 'Running' : 'Stopped';
    await api.untilVm(vm, `is ${wanted}`, (one) => one?.status === wanted);
  };
  const logIn = async (vm: string): Promise<Terminal> => {
    const url = `${service.socketUrl}/api/tty/local/${vm}?context=there`;
    const terminal = await Terminal.open(url, () => reportGuest(vm));
    await terminal.expect(/login: $/);
    await terminal.logIn('headgate', 'headgate');
    return terminal;
  };
  const done = async (task: string): Promise<TaskView> => {
    const ended = await api.untilTask(task);
    expect(ended).toMatchObject({ status: 'done' });
    return ended;
  };
  const backUp = async (vm: string, context: Context): Promise<BackedUp> => {
    const path = `/api/ext/vms/${HOME[context]}/${vm}/backup?context=${context}`;
    const { body } = await api.send<{ task: string }>('POST', path, { target });
    return (await done(body.task)).result as unknown as BackedUp;
  };
  const restore = async (point: string, vm: string, context: Context): Promise<void> => {
    const path = `/api/ext/backups/targets/${target}/points/${point}/restore`;
    const wanted = { context, name: vm };
    const plan = await api.send<PlanView>('POST', `${path}?dryRun=true`, wanted);
    expect(plan.body.refusals).toEqual([]);
    await done((await api.send<{ task: string }>('POST', path, wanted)).body.task);
    await api.untilVm(vm, 'is stopped', (one) => one?.status === 'Stopped');
  };
  const prove = async (point: string, context: Context): Promise<SignedProofView['certificate']> => {
    const path = `/api/ext/backups/targets/${target}/points/${point}`;
    await done((await api.send<{ task: string }>('POST', `${path}/prove`, { context })).body.task);
    return (await api.send<SignedProofView>('GET', `${path}/proof`)).body.certificate;
  };
  const exported = async (vm: string, context: Context): Promise<Buffer> => {
    const answer = await fetch(`${service.url}${at(vm, context, 'export')}`);
    expect(answer.status).toBe(200);
    return gunzipSync(Buffer.from(await answer.arrayBuffer()));
  };
  const helpers = (): number =>
    [SNAPSHOTS, EXPORTS]
      .flatMap((resource) => cluster.sandbox.store.list(resource))
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined).length;

  test(
    'restore a VM of the cluster on libvirt, where it boots with the file that it had',
    async () => {
      const spec = { name, context: 'there', image: 'tiny', cpu: 1, mem: '192Mi', disk: '64Mi' };
      expect(await api.send('POST', '/api/vms', spec)).toMatchObject({ status: 201 });
      await api.untilVm(name, 'is stopped', (one) => one?.status === 'Stopped');
      await power(name, 'there', 'start');
      const before = await logIn(name);
      await before.run('echo on its disk > kept; sync');
      await before.close();
      await power(name, 'there', 'stop');
      const order = { ref: `vm/there/local/${name}`, toBackend: 'kubevirt', toContext: 'cluster', deleteSource: true };
      const moved = await api.send<MoveAcceptedView>('POST', '/api/move', order);
      await done(moved.body.task);
      await power(name, 'cluster', 'start');

      const first = await backUp(name, 'cluster');
      expect(first).toMatchObject({
        consistency: expect.stringMatching(/^(frozen|crash)$/),
        sizeBytes: 64 * 1024 ** 2,
      });
      expect(helpers()).toBe(0);
      // All is read, and the target grows by the description of the backup.
      const second = await backUp(name, 'cluster');
      expect(second.readBytes).toBeGreaterThan(64 * 1024 ** 2);
      expect(second.storedBytes).toBeLessThan(64 * 1024);
      const points = await api.send<BackupPointView[]>('GET', `/api/ext/backups/targets/${target}/points`);
      expect(points.body.map(({ id, ref }) => [id, ref])).toEqual(
        [second, first].map(({ point }) => [point, `vm/cluster/tailvm/${name}`]),
      );

      const restored = `${name}-b`;
      await restore(first.point, restored, 'there');
      await power(restored, 'there', 'start');
      const after = await logIn(restored);
      expect(await after.run('cat kept')).toBe('on its disk');
      await after.close();
      await power(restored, 'there', 'stop');
    },
    TIMEOUT_MS,
  );

  test(
    'restore a VM of libvirt in the cluster, with the same bytes',
    async () => {
      const [vm, restored] = [`${name}-b`, `${name}-c`];
      const { point, consistency } = await backUp(vm, 'there');
      expect(consistency).toBe('stopped');
      await restore(point, restored, 'cluster');
      const [original, copy] = [await exported(vm, 'there'), await exported(restored, 'cluster')];
      expect(copy.subarray(0, original.length).equals(original)).toBe(true);
      expect(copy.subarray(original.length).every((byte) => byte === 0)).toBe(true);
    },
    TIMEOUT_MS,
  );

  test(
    'begin again after the service was killed, and leave nothing but what the user has',
    async () => {
      const vm = `${name}-c`;
      const kept = await api.send<{ task: string }>('POST', at(vm, 'cluster', 'snapshots'), { name: 'before' });
      await done(kept.body.task);
      const { dataDir } = service;
      const killed = new Promise<void>((resolve) => {
        const unsubscribe = cluster.sandbox.store.subscribe(EXPORTS, ({ type }) => {
          if (type !== 'ADDED') return;
          unsubscribe();
          for (const line of processesWith(dataDir).filter((one) => one.includes('main.js')))
            process.kill(Number.parseInt(line, 10), 'SIGKILL');
          resolve();
        });
      });
      const path = `/api/ext/vms/tailvm/${vm}/backup?context=cluster`;
      const { body } = await api.send<{ task: string }>('POST', path, { target });
      await killed;
      await service.interrupt();
      // The snapshot of the user, and that of the backup with its export.
      expect(helpers()).toBe(3);
      service = await RunningService.start(args, { dataDir });
      api = new Api(service.url);
      await done(body.task);
      const left = cluster.sandbox.store
        .list(SNAPSHOTS)
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      expect(left.map(({ metadata }) => metadata.name)).toEqual(['before']);
      expect(helpers()).toBe(1);
      const points = await api.send<BackupPointView[]>('GET', `/api/ext/backups/targets/${target}/points`);
      expect(points.body.filter(({ ref }) => ref === `vm/cluster/tailvm/${vm}`)).toHaveLength(1);
    },
    TIMEOUT_MS,
  );

  test(
    'are proved by the other engine, with the same hashes of the same disks',
    async () => {
      const { point } = await backUp(`${name}-c`, 'cluster');
      const before = cluster.objects(HOME.cluster);
      // A guest of QEMU boots the disk that the cluster has exported.
      const booted = await prove(point, 'there');
      expect(booted).toMatchObject({ outcome: 'booted', verified: 'all', context: 'there' });
      expect(booted.readBytes).toBeGreaterThan(1024 ** 2);
      const copied = await prove(point, 'cluster');
      expect(copied).toMatchObject({ outcome: 'booted', verified: 'all', context: 'cluster' });
      expect(copied).not.toHaveProperty('readBytes');
      expect(copied.disks).toEqual(booted.disks);

      const { point: ofLibvirt } = await backUp(`${name}-b`, 'there');
      expect(await prove(ofLibvirt, 'cluster')).toMatchObject({ outcome: 'booted', verified: 'all' });
      expect(cluster.objects(HOME.cluster)).toEqual(before);
    },
    TIMEOUT_MS,
  );
});
