import type { KubeObject } from '@headgate/kube-sandbox';
import { RESOURCES } from '../../resources.js';
import { listeningCluster } from '../../testing/listening-cluster.js';
import { buildVirtualMachine } from '../../testing/simulated-cluster.js';
import type { VirtualMachineInstance } from '../../types/virtual-machine-instance.js';
import type { VirtualMachine } from '../../types/virtual-machine.js';

type Cluster = Awaited<ReturnType<typeof listeningCluster>>;

interface Revision extends KubeObject {
  data: KubeObject & { spec: object };
  revision: number;
}

const REVISIONS = '/apis/apps/v1/namespaces/tailvm/controllerrevisions';
const TYPES = '/apis/instancetype.kubevirt.io/v1beta1/virtualmachineclusterinstancetypes';
const MERGE = { 'Content-Type': 'application/merge-patch+json' };

function buildSizedMachine(runStrategy: VirtualMachine['spec']['runStrategy']): VirtualMachine {
  const machine = buildVirtualMachine('web', {
    runStrategy,
    instancetype: { name: 'u1.medium' },
    preference: { name: 'fedora' },
  });
  const { domain } = machine.spec.template.spec;
  delete domain.cpu;
  delete domain.memory;
  delete domain.devices.disks![0]!.disk!.bus;
  return machine;
}

describe('a VM that names an instancetype and a preference', () => {
  let cluster: Cluster;

  afterEach(() => cluster.close());

  const read = async <T>(path: string): Promise<T> => (await cluster.call('GET', path)).json as unknown as T;
  const revisions = async (): Promise<Revision[]> =>
    (await read<{ items: Revision[] }>(`${REVISIONS}?labelSelector=instancetype.kubevirt.io/object-name`)).items;

  test('starts with the CPU and memory of the first and the devices of the second', async () => {
    cluster = await listeningCluster();
    expect((await cluster.call('POST', cluster.vms, buildSizedMachine('Always'))).status).toBe(201);
    cluster.clock.advance(30_000);
    const { spec, status } = await read<VirtualMachineInstance>(`${cluster.vmis}/web`);
    expect(status?.phase).toBe('Running');
    expect(spec.domain).toMatchObject({
      cpu: { sockets: 1, cores: 1, threads: 1 },
      memory: { guest: '4Gi' },
      devices: { disks: [{ disk: { bus: 'virtio' } }], interfaces: [{ model: 'virtio' }] },
    });
    expect(cluster.simulation.errors).toEqual([]);
  });

  test('records the copies that it uses, which are deleted with it', async () => {
    cluster = await listeningCluster();
    await cluster.call('POST', cluster.vms, buildSizedMachine('Halted'));
    cluster.clock.advance(1_000);
    const original = await read<KubeObject & { spec: object }>(`${TYPES}/u1.medium`);
    const vm = await read<VirtualMachine>(`${cluster.vms}/web`);
    const { uid } = original.metadata;
    const name = `web-u1.medium-v1beta1-${uid}-1`;
    expect(vm.status).toMatchObject({
      instancetypeRef: {
        name: 'u1.medium',
        kind: 'VirtualMachineClusterInstancetype',
        controllerRevisionRef: { name },
      },
      preferenceRef: { name: 'fedora', kind: 'VirtualMachineClusterPreference' },
    });
    expect(vm.spec.instancetype).not.toHaveProperty('revisionName');
    expect(await revisions()).toHaveLength(2);
    expect(await read<Revision>(`${REVISIONS}/${name}`)).toMatchObject({
      apiVersion: 'apps/v1',
      kind: 'ControllerRevision',
      metadata: {
        labels: {
          'instancetype.kubevirt.io/object-name': 'u1.medium',
          'instancetype.kubevirt.io/object-kind': 'VirtualMachineClusterInstancetype',
          'instancetype.kubevirt.io/object-uid': uid,
          'instancetype.kubevirt.io/object-generation': '1',
          'instancetype.kubevirt.io/object-version': 'v1beta1',
        },
        ownerReferences: [{ kind: 'VirtualMachine', name: 'web', uid: vm.metadata.uid, controller: true }],
      },
      data: { kind: 'VirtualMachineClusterInstancetype', metadata: { name: 'u1.medium' }, spec: original.spec },
      revision: 0,
    });
    await cluster.call('DELETE', `${cluster.vms}/web`);
    cluster.clock.advance(10_000);
    expect(await revisions()).toEqual([]);
  });

  test('keeps its size when the instancetype changes, and follows a newly assigned one', async () => {
    cluster = await listeningCluster();
    await cluster.call('POST', cluster.vms, buildSizedMachine('Halted'));
    cluster.clock.advance(1_000);
    await cluster.call('PATCH', `${TYPES}/u1.medium`, { spec: { memory: { guest: '6Gi' } } }, MERGE);
    await cluster.act('virtualmachines', 'web', 'start');
    cluster.clock.advance(30_000);
    const memory = async () => (await read<VirtualMachineInstance>(`${cluster.vmis}/web`)).spec.domain.memory?.guest;
    expect(await memory()).toBe('4Gi');
    await cluster.call('PATCH', `${cluster.vms}/web`, { spec: { instancetype: { name: 'u1.large' } } }, MERGE);
    cluster.clock.advance(120_000);
    expect(await memory()).toBe('8Gi');
    expect((await revisions()).map(({ data }) => data.metadata.name)).toContain('u1.large');
  });

  test('before 1.5 has the names of its copies in the spec', async () => {
    cluster = await listeningCluster({ kubevirtVersion: '1.4' });
    await cluster.call('POST', cluster.vms, buildSizedMachine('Always'));
    cluster.clock.advance(30_000);
    const { spec, status } = await read<VirtualMachine>(`${cluster.vms}/web`);
    expect(spec.instancetype?.revisionName).toMatch(/^web-u1\.medium-v1beta1-/);
    expect(spec.preference?.revisionName).toMatch(/^web-fedora-v1beta1-/);
    expect(status?.printableStatus).toBe('Running');
    expect(status).not.toHaveProperty('instancetypeRef');
  });

  test('waits for a missing instancetype and starts when it is created', async () => {
    cluster = await listeningCluster();
    const machine = buildSizedMachine('Always');
    machine.spec.instancetype = { name: 'own' };
    await cluster.call('POST', cluster.vms, machine);
    cluster.clock.advance(1_000);
    expect((await read<VirtualMachine>(`${cluster.vms}/web`)).status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Failure', status: 'True', reason: 'FailedCreate' }),
    );
    await cluster.call('POST', TYPES, {
      apiVersion: 'instancetype.kubevirt.io/v1beta1',
      kind: 'VirtualMachineClusterInstancetype',
      metadata: { name: 'own' },
      spec: { cpu: { guest: 3 }, memory: { guest: '1Gi' } },
    });
    cluster.clock.advance(30_000);
    expect(cluster.sandbox.store.require(RESOURCES.vmi, { namespace: 'tailvm', name: 'web' })).toMatchObject({
      spec: { domain: { cpu: { sockets: 3 } } },
      status: { phase: 'Running' },
    });
  });

  test('a copy can be read and deleted by clients, but its data is immutable', async () => {
    cluster = await listeningCluster();
    await cluster.call('POST', cluster.vms, buildSizedMachine('Halted'));
    cluster.clock.advance(1_000);
    const [first] = await revisions();
    const changed = await cluster.call('PATCH', `${REVISIONS}/${first!.metadata.name}`, { data: { x: 1 } }, MERGE);
    expect(changed).toMatchObject({
      status: 422,
      text: expect.stringContaining('field is immutable') as string,
    });
  });
});
