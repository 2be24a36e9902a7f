import { RESOURCES } from '../resources.js';
import type { SimulationOptions } from '../kubevirt-simulation.js';
import { buildVirtualMachine, simulatedCluster, type SimulatedCluster } from '../testing/simulated-cluster.js';
import { findCondition } from '../types/condition.js';
import type { ControllerRevision } from '../types/core-kinds.js';
import type { KubeVirt, Migration } from '../types/kubevirt-kinds.js';
import type { VmiSpec } from '../types/virtual-machine-instance.js';
import type { VirtualMachine } from '../types/virtual-machine.js';

const WEB = { namespace: 'tailvm', name: 'web' };
const CHANGED = 'a non-live-updatable field was changed in the template spec';
const UPDATER = { cluster: { workloadUpdateMethods: ['LiveMigrate'] } };

let cluster: SimulatedCluster;

function start(options: SimulationOptions = {}): void {
  cluster = simulatedCluster(options);
  cluster.create(buildVirtualMachine('web'));
  cluster.clock.advance(30_000);
}

function edit(change: (spec: VmiSpec) => unknown, wait = 5_000): void {
  cluster.store.patch<VirtualMachine>(RESOURCES.vm, WEB, ({ spec }) => void change(spec.template.spec));
  cluster.clock.advance(wait);
}

const vmCondition = (type: string) => findCondition(cluster.vm('web')?.status?.conditions, type);
const vmiCondition = (type: string) => findCondition(cluster.vmi('web')?.status?.conditions, type);
const sockets = () => cluster.vmi('web')?.status?.currentCPUTopology?.sockets;
const migrate = () => {
  const migration: Migration = {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstanceMigration',
    metadata: { name: 'by-hand', namespace: 'tailvm' },
    spec: { vmiName: 'web' },
  };
  cluster.create(migration);
  cluster.clock.advance(60_000);
};
const revisions = () =>
  cluster.store
    .list<ControllerRevision>(RESOURCES.controllerRevision, { namespace: 'tailvm' })
    .filter(({ metadata }) => metadata.name.startsWith('revision-start-vm-'));

const setSockets = (count: number) => (spec: VmiSpec) => (spec.domain.cpu!.sockets = count);
const setMemory = (guest: string) => (spec: VmiSpec) => (spec.domain.memory!.guest = guest);
const addCard = ({ networks, domain }: VmiSpec) => {
  networks!.push({ name: 'lan', multus: { networkName: 'br1' } });
  domain.devices.interfaces!.push({ name: 'lan', bridge: {} });
};
const addVolume = ({ volumes, domain }: VmiSpec) => {
  volumes!.push({ name: 'data', persistentVolumeClaim: { claimName: 'data', hotpluggable: true } });
  domain.devices.disks!.push({ name: 'data', disk: { bus: 'scsi' } });
};

describe('more CPUs and memory for a running guest', () => {
  const grow = (spec: VmiSpec) => {
    setSockets(4)(spec);
    setMemory('8Gi')(spec);
  };

  test('wait for a migration, which the cluster does not start by default', () => {
    start();
    edit(grow, 120_000);
    expect(vmiCondition('HotVCPUChange')?.status).toBe('True');
    expect(vmiCondition('HotMemoryChange')?.status).toBe('True');
    expect(sockets()).toBe(2);
    expect(cluster.store.list(RESOURCES.migration)).toEqual([]);
    expect(vmCondition('RestartRequired')).toBeUndefined();
    migrate();
    expect(cluster.vmi('web')?.status).toMatchObject({
      currentCPUTopology: { sockets: 4 },
      memory: { guestCurrent: '8Gi', guestAtBoot: '4Gi' },
    });
    expect(vmiCondition('HotVCPUChange')).toBeUndefined();
  });

  test('are completed by a migration of the workload updater', () => {
    start(UPDATER);
    edit(grow, 120_000);
    expect(cluster.vmi('web')?.status).toMatchObject({
      currentCPUTopology: { sockets: 4 },
      memory: { guestCurrent: '8Gi', guestAtBoot: '4Gi' },
    });
    expect(vmCondition('RestartRequired')).toBeUndefined();
    expect(vmiCondition('HotVCPUChange')).toBeUndefined();
  });

  test.each([
    ['HotPlugCPUError', 'another CPU hotplug is in progress', setSockets(4), setSockets(6)],
    ['HotPlugMemoryError', 'another memory hotplug is in progress', setMemory('8Gi'), setMemory('12Gi')],
  ])('can not be asked for again before they are complete: %s', (reason, message, first, second) => {
    start();
    edit(first);
    edit(second);
    expect(vmCondition('Failure')).toMatchObject({ status: 'True', reason, message: expect.stringContaining(message) });
    expect(vmCondition('RestartRequired')).toBeUndefined();
    migrate();
    cluster.clock.advance(5_000);
    expect(vmCondition('Failure')).toBeUndefined();
  });

  test.each([
    ['fewer sockets', setSockets(1), 'Reduction of CPU socket count requires a restart'],
    ['too many sockets', setSockets(9), "CPU sockets updated in template spec to a value higher than what's available"],
    [
      'decimal memory',
      setMemory('5G'),
      'memory updated in template spec. Memory-hotplug is not available for this VM configuration',
    ],
    ['less memory', setMemory('2Gi'), 'memory updated in template spec to a value lower than what the VM started with'],
    ['too much memory', setMemory('17Gi'), "memory updated in template spec to a value higher than what's available"],
  ])('need a restart: %s', (_what, change, message) => {
    start();
    edit(change);
    expect(vmCondition('RestartRequired')).toMatchObject({ status: 'True', message });
  });

  test('need a restart on ARM', () => {
    cluster = simulatedCluster({ cluster: { nodes: [{ name: 'node-a', architecture: 'arm64' }] } });
    const machine = buildVirtualMachine('web');
    machine.spec.template.spec.architecture = 'arm64';
    cluster.create(machine);
    cluster.clock.advance(30_000);
    edit(setSockets(4));
    expect(vmCondition('RestartRequired')?.message).toBe("ARM doesn't support CPU hotplug");
  });
});

describe('a change that a running guest can not follow', () => {
  test.each<[string, (spec: VmiSpec) => unknown]>([
    ['another host name', (spec) => (spec.hostname = 'x')],
    ['an upper limit of its CPUs', ({ domain }) => (domain.cpu!.maxSockets = 8)],
    ['an upper limit of its memory', ({ domain }) => (domain.memory!.maxGuest = '16Gi')],
    ['another grace period', (spec) => (spec.terminationGracePeriodSeconds = 90)],
    ['another serial number', ({ domain }) => (domain.firmware = { ...domain.firmware, serial: 'x' })],
    ['another disk', ({ volumes }) => volumes!.push({ name: 'tmp', emptyDisk: { capacity: '1Gi' } })],
  ])('needs a restart: %s', (_what, change) => {
    start();
    edit(change);
    expect(vmCondition('RestartRequired')).toMatchObject({ status: 'True', message: CHANGED });
    edit(setSockets(4), 60_000);
    expect(cluster.vmi('web')?.spec.domain.cpu?.sockets).toBe(2);
  });

  test('takes effect with the next start, which ends the condition', () => {
    start();
    edit((spec) => (spec.hostname = 'x'));
    const [before] = revisions();
    cluster.store.patch<VirtualMachine>(RESOURCES.vm, WEB, ({ spec }) => void (spec.runStrategy = 'Halted'));
    cluster.clock.advance(60_000);
    expect(vmCondition('RestartRequired')).toBeUndefined();
    cluster.store.patch<VirtualMachine>(RESOURCES.vm, WEB, ({ spec }) => void (spec.runStrategy = 'Always'));
    cluster.clock.advance(60_000);
    expect(vmCondition('RestartRequired')).toBeUndefined();
    expect(revisions()).toHaveLength(1);
    expect(revisions()[0]!.metadata.name).not.toBe(before!.metadata.name);
    expect(revisions()[0]!.metadata.name).toBe(cluster.vmi('web')?.status?.virtualMachineRevisionName);
  });

  test.each([
    ['1.5', true],
    ['1.6', true],
    ['1.6.5', false],
    ['1.7', true],
    ['1.7.4', false],
    ['1.9', false],
  ] as const)('KubeVirt %s: the condition stays after the change was reverted: %s', (kubevirtVersion, stays) => {
    start({ kubevirtVersion });
    edit((spec) => (spec.hostname = 'x'));
    expect(vmCondition('RestartRequired')?.status).toBe('True');
    edit((spec) => delete spec.hostname);
    expect(vmCondition('RestartRequired')?.status).toBe(stays ? 'True' : undefined);
  });
});

describe('the rollout strategy', () => {
  test.each([
    ['1.4', 'Stage'],
    ['1.5', 'Stage'],
    ['1.6', 'LiveUpdate'],
    ['1.9', 'LiveUpdate'],
  ] as const)('of KubeVirt %s is %s by default', (kubevirtVersion, strategy) => {
    start({ kubevirtVersion });
    edit(setSockets(4));
    expect(vmCondition('RestartRequired')?.message).toBe(strategy === 'Stage' ? CHANGED : undefined);
  });

  test.each<[string, (spec: VmiSpec) => unknown, boolean]>([
    ['more CPUs', setSockets(4), true],
    ['a node selector', (spec) => (spec.nodeSelector = { zone: 'a' }), true],
    ['a NIC', addCard, false],
    ['a hot-pluggable volume', addVolume, false],
  ])('Stage: %s', (_what, change, needsRestart) => {
    start({ cluster: { vmRolloutStrategy: 'Stage' } });
    edit(change);
    expect(vmCondition('RestartRequired')?.message).toBe(needsRestart ? CHANGED : undefined);
    expect(cluster.vmi('web')?.spec.networks).toHaveLength(change === addCard ? 2 : 1);
    expect(cluster.vmi('web')?.spec.volumes).toHaveLength(change === addVolume ? 2 : 1);
  });

  test('a hot-pluggable volume in the template needs a restart without the gate of declarative hotplug', () => {
    start({ kubevirtVersion: '1.8' });
    edit(addVolume);
    expect(vmCondition('RestartRequired')?.message).toBe(CHANGED);
  });

  test.each([
    ['1.7', CHANGED],
    ['1.9', undefined],
  ] as const)('another network of a NIC, KubeVirt %s', (kubevirtVersion, message) => {
    start({ kubevirtVersion });
    edit(addCard);
    cluster.store.patch<VirtualMachine>(RESOURCES.vm, WEB, ({ spec }) => void (spec.runStrategy = 'Halted'));
    cluster.clock.advance(60_000);
    cluster.store.patch<VirtualMachine>(RESOURCES.vm, WEB, ({ spec }) => void (spec.runStrategy = 'Always'));
    cluster.clock.advance(60_000);
    edit(({ networks }) => (networks![1]!.multus = { networkName: 'default/br1' }));
    expect(vmCondition('RestartRequired')?.message).toBe(message);
  });

  test('changes for all VMs when the KubeVirt resource changes', () => {
    start();
    cluster.store.patch<KubeVirt>(RESOURCES.kubevirt, { namespace: 'kubevirt', name: 'kubevirt' }, ({ spec }) => {
      spec.configuration = { ...spec.configuration, vmRolloutStrategy: 'Stage' };
    });
    edit(setSockets(4));
    expect(vmCondition('RestartRequired')?.message).toBe(CHANGED);
  });
});

test('a seeded VM is compared with its spec at its start', () => {
  cluster = simulatedCluster();
  cluster.simulation.seedVm({ name: 'web' });
  cluster.clock.advance(5_000);
  expect(vmCondition('RestartRequired')).toBeUndefined();
  edit((spec) => (spec.hostname = 'x'));
  expect(vmCondition('RestartRequired')?.message).toBe(CHANGED);
  cluster.store.delete(RESOURCES.vm, WEB);
  cluster.clock.advance(120_000);
  expect(revisions()).toEqual([]);
});
