import { MIB } from '../../quantity.js';
import { RESOURCES } from '../../resources.js';
import { buildVirtualMachine, simulatedCluster } from '../../testing/simulated-cluster.js';
import type { Pod } from '../../types/core-kinds.js';
import type { KubeVirt, Migration } from '../../types/kubevirt-kinds.js';
import type { VirtualMachineInstance, VmiSpec } from '../../types/virtual-machine-instance.js';
import { memoryOverheadBytes } from './memory-overhead.js';

const ONE_CPU = { sockets: 1, cores: 1, threads: 1 };

/** A running VM, by default like the one whose overhead was recorded: 1 CPU, 1 GiB, a screen. */
function given(change: (spec: VmiSpec) => void = () => undefined, kubevirtVersion: '1.8' | '1.9' = '1.9') {
  const cluster = simulatedCluster({ kubevirtVersion });
  const machine = buildVirtualMachine('web');
  const { spec } = machine.spec.template;
  Object.assign(spec.domain, { cpu: ONE_CPU, memory: { guest: '1Gi' } });
  change(spec);
  cluster.create(machine);
  cluster.clock.advance(30_000);
  const vmi = () => cluster.vmi('web')!;
  return { ...cluster, vmi, overhead: () => vmi().status?.memory?.memoryOverhead };
}

describe('the memory overhead of a launcher', () => {
  test('is that of the recorded VM, in its status and in the request of its pod', () => {
    const { overhead, store, vmi } = given();
    expect(overhead()).toBe('268Mi');
    const [pod] = store.ownedBy<Pod>(RESOURCES.pod, vmi().metadata.uid!);
    expect(pod?.spec.containers[0]?.resources?.requests?.['memory']).toBe(`${1024 + 268}Mi`);
  });

  test.each<[string, number, (spec: VmiSpec) => void]>([
    ['three more CPUs', 24, ({ domain }) => void (domain.cpu = { ...ONE_CPU, cores: 4 })],
    ['no screen', -32, ({ domain }) => void (domain.devices.autoattachGraphicsDevice = false)],
    ['the firmware of arm64', 128, (spec) => void (spec.architecture = 'arm64')],
    [
      'a device',
      1024,
      ({ domain }) => void (domain.devices.hostDevices = [{ name: 'a', deviceName: 'example.org/a' }]),
    ],
    ['a TPM', 53, ({ domain }) => void (domain.devices['tpm'] = {})],
    ['dedicated CPUs', 100, ({ domain }) => void (domain.cpu = { ...ONE_CPU, dedicatedCpuPlacement: true })],
    [
      'requests that equal the limits, and page tables',
      100 + 2,
      ({ domain }) => {
        const amounts = { cpu: '1', memory: '1024000Ki' };
        domain.resources = { requests: amounts, limits: amounts };
      },
    ],
  ])('with %s differs by %d MiB', (_what, mib, change) => {
    const spec: VmiSpec = { domain: { cpu: ONE_CPU, memory: { guest: '1Gi' }, devices: {} } };
    change(spec);
    const vmi = { spec } as VirtualMachineInstance;
    expect(Math.round(memoryOverheadBytes({ kubevirt: undefined } as never, vmi) / MIB)).toBe(268 + mib);
  });

  test('follows the ratio of the cluster with the next launcher', () => {
    const cluster = given();
    cluster.store.patch<KubeVirt>(RESOURCES.kubevirt, { namespace: 'kubevirt', name: 'kubevirt' }, ({ spec }) => {
      spec.configuration = { ...spec.configuration, additionalGuestMemoryOverheadRatio: '1.5' };
    });
    expect(cluster.overhead()).toBe('268Mi');
    cluster.create<Migration>({
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachineInstanceMigration',
      metadata: { name: 'move', namespace: 'tailvm' },
      spec: { vmiName: 'web' },
    });
    cluster.clock.advance(60_000);
    expect(cluster.overhead()).toBe('402Mi');
  });

  test('is not in the status of 1.8', () => {
    expect(given(undefined, '1.8').vmi().status?.memory).not.toHaveProperty('memoryOverhead');
  });
});
