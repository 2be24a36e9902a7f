import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Api } from './api.js';
import { processesWith } from './processes.js';
import { RunningService } from './running-service.js';
import { SimulatedCluster } from './simulated-cluster.js';
import { until } from './until.js';

const NAMESPACE = 'tailvm';
const NAME = 'db';
const FAST = 'ceph-fast';
const CLASSES = 'storageclasses.storage.k8s.io';
const DATA_VOLUMES = 'datavolumes.cdi.kubevirt.io';

interface Claim {
  readonly spec: { readonly storageClassName: string };
}

interface Machine {
  readonly spec: { readonly template: { readonly spec: { readonly volumes: { dataVolume: { name: string } }[] } } };
}

describe('a service that is killed while a disk moves to another storage class', () => {
  let folder: string;
  let cluster: SimulatedCluster;
  let service: RunningService;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-disk-move-'));
    cluster = await SimulatedCluster.start('lab', {
      simulation: { cluster: { nodes: [{ name: 'node-a' }, { name: 'node-b' }] } },
    });
    const { store } = cluster.sandbox;
    const shared = store.get(CLASSES, { name: 'ceph-block' }) as object;
    store.create(CLASSES, { ...shared, metadata: { name: FAST } } as never);
    service = await RunningService.start(['--config', SimulatedCluster.configure(folder, [cluster])]);
  }, 600_000);

  afterAll(async () => {
    await service?.stop();
    await cluster?.close();
    rmSync(folder, { recursive: true });
  });

  const names = (resource: string): string[] =>
    cluster.sandbox.store.list(resource, { namespace: NAMESPACE }).map(({ metadata }) => metadata.name);
  const volume = (): string => {
    const vm = cluster.sandbox.store.get('virtualmachines.kubevirt.io', { namespace: NAMESPACE, name: NAME });
    return (vm as unknown as Machine).spec.template.spec.volumes[0]?.dataVolume.name ?? '';
  };
  const isCopying = (): boolean =>
    cluster.sandbox.store
      .list('virtualmachineinstancemigrations.kubevirt.io', { namespace: NAMESPACE })
      .some((migration) => (migration as { status?: { phase?: string } }).status?.phase === 'Running');

  test('completes the move after its next start, and deletes the old volume', async () => {
    const before = new Api(service.url);
    const spec = {
      name: NAME,
      import: 'https://images.example/disk.qcow2',
      cpu: 1,
      mem: '1Gi',
      disk: '1Gi',
      start: true,
    };
    expect((await before.send('POST', '/api/vms', spec)).status).toBe(201);
    await before.untilVm(NAME, 'runs', (vm) => vm?.status === 'Running');
    const old = volume();
    cluster.simulation.faults.inject('migration-stuck', { namespace: NAMESPACE, name: NAME });
    const path = `/api/ext/vms/${NAMESPACE}/${NAME}/volumes/${old}/move`;
    const accepted = await before.send<{ task: string }>('POST', path, { storage: FAST });
    expect(accepted.status).toBe(202);
    await until('the disk is copied', async () => isCopying(), Boolean);
    expect(names(DATA_VOLUMES)).toHaveLength(2);

    const { dataDir } = service;
    for (const line of processesWith(dataDir).filter((one) => one.includes('main.js')))
      process.kill(Number.parseInt(line, 10), 'SIGKILL');
    await service.interrupt();
    service = await RunningService.start(['--config', SimulatedCluster.configure(folder, [cluster])], { dataDir });
    cluster.simulation.faults.clear('migration-stuck', { namespace: NAMESPACE, name: NAME });
    const after = new Api(service.url);
    expect(await after.untilTask(accepted.body.task)).toMatchObject({ status: 'done', error: '' });
    expect(names(DATA_VOLUMES)).toEqual([volume()]);
    expect(volume()).not.toBe(old);
    const claim = cluster.sandbox.store.get('persistentvolumeclaims', { namespace: NAMESPACE, name: volume() });
    expect((claim as unknown as Claim).spec.storageClassName).toBe(FAST);
    expect(await after.untilVm(NAME, 'still runs', (vm) => vm?.status === 'Running')).toMatchObject({ name: NAME });
  });
});
