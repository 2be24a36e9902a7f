import { RESOURCES } from '../../resources.js';
import { listeningCluster } from '../../testing/listening-cluster.js';
import type { Pod } from '../../types/core-kinds.js';
import type { VirtualMachineInstance } from '../../types/virtual-machine-instance.js';

type Cluster = Awaited<ReturnType<typeof listeningCluster>>;

const CLAIMS = '/api/v1/namespaces/tailvm/persistentvolumeclaims';
const buildClaim = (name: string, storageClassName?: string) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: {
    accessModes: ['ReadWriteMany'],
    resources: { requests: { storage: '5Gi' } },
    ...(storageClassName ? { storageClassName } : {}),
  },
});
const options = {
  name: 'data1',
  disk: { name: 'data1', disk: { bus: 'scsi' }, serial: 'data1' },
  volumeSource: { persistentVolumeClaim: { claimName: 'data1' } },
};

describe.each(['1.8', '1.9'] as const)('disks of a running VM, KubeVirt %s', (kubevirtVersion) => {
  let cluster: Cluster;

  beforeEach(async () => {
    cluster = await listeningCluster({ kubevirtVersion });
    cluster.simulation.seedVm({ name: 'web' });
    await cluster.call('POST', CLAIMS, buildClaim('data1'));
    cluster.clock.advance(5_000);
  });

  afterEach(() => cluster.close());

  const vmi = () =>
    cluster.sandbox.store.require<VirtualMachineInstance>(RESOURCES.vmi, { namespace: 'tailvm', name: 'web' });
  const status = () => vmi().status?.volumeStatus?.find(({ name }) => name === 'data1');

  test('go through their phases when they are plugged and unplugged, and need no restart', async () => {
    expect((await cluster.act('virtualmachines', 'web', 'addvolume', options)).status).toBe(202);
    cluster.clock.advance(20_000);
    expect(status()).toMatchObject({ phase: 'Ready', reason: 'VolumeReady', target: 'sda' });
    const again = await cluster.act('virtualmachines', 'web', 'addvolume', options);
    expect(again.json?.['message']).toContain(
      'Unable to add volume [data1] because volume with that name already exists',
    );
    expect(vmi().status?.conditions?.map(({ type }) => type)).not.toContain('RestartRequired');
    expect((await cluster.act('virtualmachines', 'web', 'removevolume', { name: 'data1' })).status).toBe(202);
    cluster.clock.advance(20_000);
    expect(status()).toBeUndefined();
    expect(cluster.sandbox.store.list(RESOURCES.pod, { labels: 'kubevirt.io=hotplug-disk' })).toEqual([]);
  });

  test('move with the guest, and their claim is free once they are unplugged', async () => {
    const attachments = () => cluster.sandbox.store.list<Pod>(RESOURCES.pod, { labels: 'kubevirt.io=hotplug-disk' });
    await cluster.act('virtualmachines', 'web', 'addvolume', options);
    cluster.clock.advance(20_000);
    const [before] = attachments();
    expect((await cluster.act('virtualmachines', 'web', 'migrate', {})).status).toBe(202);
    cluster.clock.advance(60_000);
    const [after, ...others] = attachments();
    expect(others).toEqual([]);
    expect(after?.spec.nodeName).toBe(vmi().status?.nodeName);
    expect(after?.spec.nodeName).not.toBe(before?.spec.nodeName);
    expect(status()?.hotplugVolume?.attachPodName).toBe(after?.metadata.name);
    expect(vmi().status?.migrationState?.targetAttachmentPodUID).toBe(after?.metadata.uid);
    await cluster.act('virtualmachines', 'web', 'removevolume', { name: 'data1' });
    cluster.clock.advance(20_000);
    expect(attachments()).toEqual([]);
    await cluster.call('DELETE', `${CLAIMS}/data1`);
    cluster.clock.advance(5_000);
    expect((await cluster.call('GET', `${CLAIMS}/data1`)).status).toBe(404);
  });

  test('are refused with the messages of virt-api', async () => {
    const empty = await cluster.act('virtualmachines', 'web', 'addvolume');
    expect(empty.json).toMatchObject({
      code: 400,
      message: 'Request with no body, a new name is expected as the request body',
    });
    const boot = await cluster.act('virtualmachines', 'web', 'removevolume', { name: 'root' });
    expect(boot.json?.['message']).toContain('Unable to remove volume [root] because it is not hotpluggable');
    const sata = await cluster.act('virtualmachines', 'web', 'addvolume', {
      ...options,
      disk: { name: 'data1', disk: { bus: 'sata' } },
    });
    // The declarative way of 1.9 accepts it, and fails later.
    if (kubevirtVersion === '1.9') expect(sata.status).toBe(202);
    else expect(sata.json?.['message']).toContain("requires bus to be 'scsi' or 'virtio'. [sata] is not permitted.");
  });

  test('grow with their claim, unless its class forbids it', async () => {
    const patch = (name: string, storage: string) =>
      cluster.call(
        'PATCH',
        `${CLAIMS}/${name}`,
        { spec: { resources: { requests: { storage } } } },
        { 'Content-Type': 'application/merge-patch+json' },
      );
    expect((await patch('web-root', '40Gi')).status).toBe(200);
    cluster.clock.advance(10_000);
    const root = vmi().status?.volumeStatus?.find(({ name }) => name === 'root');
    expect(root?.persistentVolumeClaimInfo?.capacity).toEqual({ storage: '40Gi' });
    const smaller = await patch('web-root', '1Gi');
    expect(smaller.json).toMatchObject({
      code: 422,
      message: expect.stringContaining('field can not be less than status.capacity') as string,
    });
    await cluster.call('POST', CLAIMS, buildClaim('local', 'local-path'));
    cluster.clock.advance(5_000);
    expect((await patch('local', '10Gi')).json).toMatchObject({
      code: 403,
      message: expect.stringContaining('Only bound persistent volume claims can be expanded') as string,
    });
    cluster.sandbox.store.patch(RESOURCES.claim, { namespace: 'tailvm', name: 'local' }, ({ metadata }) => {
      metadata.annotations = { 'volume.kubernetes.io/selected-node': 'node-a' };
    });
    cluster.clock.advance(5_000);
    const local = await patch('local', '10Gi');
    expect(local.json).toMatchObject({
      code: 403,
      message: expect.stringContaining('only dynamically provisioned pvc can be resized') as string,
    });
  });
});
