import { RESOURCES } from '../../resources.js';
import { buildVirtualMachine, simulatedCluster } from '../../testing/simulated-cluster.js';
import type { Pod } from '../../types/core-kinds.js';
import type { Domain } from '../../types/virtual-machine-instance.js';
import type { VirtualMachine } from '../../types/virtual-machine.js';

const NODES = [
  { name: 'node-a', cpus: 8, cpuManager: true, resources: { 'hugepages-2Mi': '4Gi', 'example.org/gpu': '1' } },
  { name: 'node-b', cpus: 32 },
];
const PERMITTED = { pciHostDevices: [{ pciVendorSelector: '10DE:1EB8', resourceName: 'example.org/gpu' }] };
const GPU = { gpus: [{ name: 'gpu', deviceName: 'example.org/gpu' }] };

describe('the launcher of a VM', () => {
  const given = (permittedHostDevices: typeof PERMITTED | undefined = PERMITTED) =>
    simulatedCluster({ kubevirtVersion: '1.9', cluster: { nodes: NODES, permittedHostDevices } });
  const vm = (name: string, change: (domain: Domain) => void): VirtualMachine => {
    const built = buildVirtualMachine(name);
    change(built.spec.template.spec.domain);
    return built;
  };
  const start = (cluster: ReturnType<typeof given>, one: VirtualMachine): Pod | undefined => {
    cluster.create(one);
    cluster.clock.advance(30_000);
    return cluster.store.ownedBy<Pod>(RESOURCES.pod, cluster.vmi(one.metadata.name)?.metadata.uid ?? '')[0];
  };

  test('runs on a node that reserves CPUs, with one more for an isolated emulator', () => {
    const cluster = given();
    const cpu = { sockets: 2, dedicatedCpuPlacement: true, isolateEmulatorThread: true };
    const pod = start(
      cluster,
      vm('web', (domain) => (domain.cpu = cpu)),
    );
    expect(pod?.spec).toMatchObject({ nodeName: 'node-a', nodeSelector: { cpumanager: 'true' } });
    const { requests, limits } = pod?.spec.containers[0]?.resources ?? {};
    expect([requests?.['cpu'], limits?.['cpu'], limits?.['memory']]).toEqual(['3', '3', requests?.['memory']]);
    // The node has eight: no third VM of this size fits.
    start(
      cluster,
      vm('second', (domain) => (domain.cpu = cpu)),
    );
    start(
      cluster,
      vm('third', (domain) => (domain.cpu = cpu)),
    );
    expect(cluster.vm('second')?.status?.printableStatus).toBe('Running');
    expect(cluster.vm('third')?.status?.printableStatus).toBe('ErrorUnschedulable');
  });

  test('takes the memory of the guest from hugepages, until the node has no more', () => {
    const cluster = given();
    const hugepages = (domain: Domain): void => void (domain.memory = { guest: '2Gi', hugepages: { pageSize: '2Mi' } });
    const pod = start(cluster, vm('one', hugepages));
    expect(pod?.spec.containers[0]?.resources).toMatchObject({
      requests: { 'hugepages-2Mi': '2Gi', memory: '276Mi' },
      limits: { 'hugepages-2Mi': '2Gi' },
    });
    start(cluster, vm('two', hugepages));
    const third = start(cluster, vm('three', hugepages));
    expect(cluster.vm('two')?.status?.printableStatus).toBe('Running');
    expect(cluster.vm('three')?.status?.printableStatus).toBe('ErrorUnschedulable');
    expect(third?.status?.conditions).toContainEqual(
      expect.objectContaining({
        message: expect.stringMatching(/^0\/2 nodes are available: 2 Insufficient hugepages-2Mi\. no new claims/),
      }),
    );
  });

  test('gets a device that one VM at a time can have, and can not migrate with it', () => {
    const cluster = given();
    start(
      cluster,
      vm('one', (domain) => Object.assign(domain.devices, GPU)),
    );
    start(
      cluster,
      vm('two', (domain) => Object.assign(domain.devices, GPU)),
    );
    expect(cluster.vmi('one')?.status?.nodeName).toBe('node-a');
    expect(cluster.vmi('one')?.status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'LiveMigratable', status: 'False', reason: 'HostDeviceNotLiveMigratable' }),
    );
    expect(cluster.vm('two')?.status?.printableStatus).toBe('ErrorUnschedulable');
    cluster.store.delete(RESOURCES.vm, { namespace: 'tailvm', name: 'one' });
    cluster.clock.advance(60_000);
    expect(cluster.vm('two')?.status?.printableStatus).toBe('Running');
  });

  test('is not created for a device that the KubeVirt resource does not permit', () => {
    const cluster = given();
    const other = { gpus: [{ name: 'gpu', deviceName: 'example.org/other' }] };
    expect(
      start(
        cluster,
        vm('web', (domain) => Object.assign(domain.devices, other)),
      ),
    ).toBeUndefined();
    expect(cluster.vmi('web')?.status?.conditions).toContainEqual(
      expect.objectContaining({
        type: 'Synchronized',
        message:
          'failed to render launch manifest: GPU example.org/other is not permitted in permittedHostDevices configuration',
      }),
    );
  });
});
