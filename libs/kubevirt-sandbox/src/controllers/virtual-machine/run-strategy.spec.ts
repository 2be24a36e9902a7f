import { FAULT_ANNOTATION } from '../../faults.js';
import { RESOURCES } from '../../resources.js';
import { listeningCluster } from '../../testing/listening-cluster.js';
import { buildVirtualMachine } from '../../testing/simulated-cluster.js';
import type { VirtualMachineInstance } from '../../types/virtual-machine-instance.js';
import type { RunStrategy, VirtualMachine } from '../../types/virtual-machine.js';

type Cluster = Awaited<ReturnType<typeof listeningCluster>>;

const WEB = { namespace: 'tailvm', name: 'web' };

describe('run strategies', () => {
  let cluster: Cluster;

  beforeEach(async () => {
    cluster = await listeningCluster();
  });

  afterEach(() => {
    expect(cluster.simulation.errors).toEqual([]);
    return cluster.close();
  });

  const status = () => cluster.sandbox.store.get<VirtualMachine>(RESOURCES.vm, WEB)?.status?.printableStatus;
  const vmi = () => cluster.sandbox.store.get<VirtualMachineInstance>(RESOURCES.vmi, WEB);
  const act = async (action: string) => (await cluster.act('virtualmachines', 'web', action)).status;

  async function given(runStrategy: RunStrategy, change?: (machine: VirtualMachine) => void): Promise<void> {
    const machine = buildVirtualMachine('web', { runStrategy });
    change?.(machine);
    expect((await cluster.call('POST', cluster.vms, machine)).status).toBe(201);
    cluster.clock.advance(60_000);
  }

  function powerOffFromInside(): void {
    const guest = cluster.simulation.guestOf('tailvm', 'web');
    cluster.clock.advance(20_000);
    guest.typeOnSerial('root\r\rpoweroff\r');
    cluster.clock.advance(60_000);
  }

  /** The guest dies with its pod. */
  function crash(): void {
    const [pod] = cluster.sandbox.store.ownedBy(RESOURCES.pod, vmi()!.metadata.uid!);
    cluster.sandbox.store.patch(RESOURCES.pod, pod!.metadata, (draft) =>
      Object.assign(draft, { status: { phase: 'Failed' } }),
    );
    cluster.clock.advance(60_000);
  }

  const ENDS: [string, () => void][] = [
    ['powered itself off', powerOffFromInside],
    ['crashed', crash],
  ];

  const withDisk = (machine: VirtualMachine): void => {
    const storage = { resources: { requests: { storage: '1Gi' } } };
    const source = { http: { url: 'https://images.example/f.qcow2' } };
    machine.spec.dataVolumeTemplates = [{ metadata: { name: 'web-root' }, spec: { source, storage } }];
    machine.spec.template.spec.volumes = [{ name: 'root', dataVolume: { name: 'web-root' } }];
  };

  test('Manual starts, restarts and stops only on request', async () => {
    await given('Manual');
    expect(status()).toBe('Stopped');
    expect(await act('start')).toBe(202);
    cluster.clock.advance(20_000);
    expect(status()).toBe('Running');
    const first = vmi()!.metadata.uid;
    expect(await act('restart')).toBe(202);
    cluster.clock.advance(60_000);
    expect(status()).toBe('Running');
    expect(vmi()!.metadata.uid).not.toBe(first);
    expect(await act('stop')).toBe(202);
    cluster.clock.advance(60_000);
    expect(status()).toBe('Stopped');
    expect(vmi()).toBeUndefined();
    expect(await act('stop')).toBe(409);
  });

  test.each(ENDS)('Manual does not restart a guest that %s', async (_what, end) => {
    await given('Manual');
    await act('start');
    cluster.clock.advance(20_000);
    end();
    expect(status()).toBe('Stopped');
    expect(await act('start')).toBe(202);
    cluster.clock.advance(60_000);
    expect(status()).toBe('Running');
  });

  test('RerunOnFailure starts immediately, stays stopped after a clean end and starts again on request', async () => {
    await given('RerunOnFailure');
    expect(status()).toBe('Running');
    powerOffFromInside();
    expect(status()).toBe('Stopped');
    expect(await act('start')).toBe(202);
    cluster.clock.advance(60_000);
    expect(status()).toBe('Running');
    expect(await act('stop')).toBe(202);
    cluster.clock.advance(60_000);
    expect(status()).toBe('Stopped');
  });

  test('RerunOnFailure restarts a guest that crashed', async () => {
    await given('RerunOnFailure');
    const first = vmi()!.metadata.uid;
    crash();
    expect(status()).toBe('Running');
    expect(vmi()!.metadata.uid).not.toBe(first);
  });

  test('RerunOnFailure keeps retrying when the guest dies before it runs', async () => {
    await given('RerunOnFailure', ({ spec }) => {
      spec.template.metadata = { annotations: { [FAULT_ANNOTATION]: 'crash-loop' } };
    });
    const failures = () =>
      cluster.sandbox.store.require<VirtualMachine>(RESOURCES.vm, WEB).status?.startFailure?.consecutiveFailCount;
    expect(failures()).toBeGreaterThan(1);
  });

  test.each(ENDS)('Once never restarts a guest that %s', async (_what, end) => {
    await given('Once');
    expect(status()).toBe('Running');
    expect(await act('restart')).toBe(409);
    end();
    cluster.clock.advance(600_000);
    expect(status()).toBe('Stopped');
    expect(await act('start')).toBe(409);
  });

  test('stopping a VM with the strategy Once makes it Halted', async () => {
    await given('Once');
    expect(await act('stop')).toBe(202);
    cluster.clock.advance(60_000);
    expect(status()).toBe('Stopped');
    expect(cluster.sandbox.store.require<VirtualMachine>(RESOURCES.vm, WEB).spec.runStrategy).toBe('Halted');
  });

  test.each(['RerunOnFailure', 'Once'] as const)('%s starts once its disk is ready', async (runStrategy) => {
    await given(runStrategy, withDisk);
    expect(status()).toBe('Running');
  });

  test('WaitAsReceiver creates no VMI', async () => {
    await given('WaitAsReceiver');
    expect(vmi()).toBeUndefined();
  });
});
