import { RESOURCES } from '../../resources.js';
import type { Pod } from '../../types/core-kinds.js';
import { findCondition } from '../../types/condition.js';
import { buildVirtualMachine, simulatedCluster } from '../../testing/simulated-cluster.js';

describe('the life of a VM', () => {
  test('goes through Starting to Running with its pod, its node and its address', () => {
    const { clock, create, vm, vmi, store } = simulatedCluster();
    create(buildVirtualMachine('web'));
    clock.advance(0);
    expect(vm('web')?.status?.printableStatus).toBe('Starting');

    clock.advance(10_000);
    expect(vm('web')?.status).toMatchObject({
      printableStatus: 'Running',
      created: true,
      ready: true,
      runStrategy: 'Always',
    });
    const running = vmi('web')!;
    expect(running.status).toMatchObject({ phase: 'Running', qosClass: 'Burstable', runtimeUser: 107 });
    expect(running.status?.interfaces?.[0]?.ipAddress).toMatch(/^10\./);
    expect(running.metadata.labels?.['kubevirt.io/nodeName']).toBe(running.status?.nodeName);
    const [pod] = store.ownedBy<Pod>(RESOURCES.pod, running.metadata.uid!);
    expect(pod?.metadata.labels).toMatchObject({ 'kubevirt.io/created-by': running.metadata.uid });
    expect(pod?.status?.phase).toBe('Running');
  });

  test('connects the guest agent a while after the guest runs', () => {
    const { clock, create, vmi } = simulatedCluster();
    create(buildVirtualMachine('web'));
    clock.advance(6_000);
    expect(findCondition(vmi('web')?.status?.conditions, 'AgentConnected')).toBeUndefined();
    clock.advance(20_000);
    expect(findCondition(vmi('web')?.status?.conditions, 'AgentConnected')?.status).toBe('True');
    expect(vmi('web')?.status?.guestOSInfo).toMatchObject({ id: 'fedora' });
  });

  test('stops gracefully: Stopping, then Stopped without a VMI', () => {
    const { clock, create, vm, vmi, store } = simulatedCluster();
    create(buildVirtualMachine('web'));
    clock.advance(10_000);
    store.patch(RESOURCES.vm, { namespace: 'tailvm', name: 'web' }, (draft) => {
      Object.assign(draft, { spec: { ...vm('web')!.spec, runStrategy: 'Halted' } });
    });
    clock.advance(100);
    expect(vm('web')?.status?.printableStatus).toBe('Stopping');
    clock.advance(10_000);
    expect(vmi('web')).toBeUndefined();
    expect(vm('web')?.status).toMatchObject({ printableStatus: 'Stopped' });
    expect(Object.keys(vm('web')!.status!)).not.toEqual(expect.arrayContaining(['created', 'ready']));
    expect(store.list(RESOURCES.pod, { namespace: 'tailvm' })).toEqual([]);
  });

  test('ends with the deletion of everything that it owns', () => {
    const { clock, create, vm, store } = simulatedCluster();
    create(buildVirtualMachine('web'));
    clock.advance(10_000);
    store.delete(RESOURCES.vm, { namespace: 'tailvm', name: 'web' });
    clock.advance(100);
    expect(vm('web')?.status?.printableStatus).toBe('Terminating');
    clock.advance(10_000);
    expect(vm('web')).toBeUndefined();
    expect(store.count(RESOURCES.vmi)).toBe(0);
    expect(store.count(RESOURCES.pod, 'tailvm')).toBe(0);
  });

  test('starts again with a new VMI when the guest of an Always VM powers off', () => {
    const { clock, create, vmi, simulation } = simulatedCluster();
    create(buildVirtualMachine('web'));
    clock.advance(10_000);
    const first = vmi('web')!.metadata.uid;
    simulation.guestOf('tailvm', 'web').typeOnSerial('root\r\rpoweroff\r');
    simulation.guestOf('tailvm', 'web');
    clock.advance(10_000);
    simulation.guestOf('tailvm', 'web').typeOnSerial('root\r\rpoweroff\r');
    clock.advance(20_000);
    expect(vmi('web')?.metadata.uid).not.toBe(first);
    expect(vmi('web')?.status?.phase).toBe('Running');
  });

  test('records an event for each step on exactly the object concerned', () => {
    const { clock, create, eventReasons } = simulatedCluster();
    create(buildVirtualMachine('web'));
    create(buildVirtualMachine('web-2'));
    clock.advance(10_000);
    expect(eventReasons('VirtualMachine', 'web')).toEqual(['SuccessfulCreate']);
    expect(eventReasons('VirtualMachineInstance', 'web')).toEqual(['SuccessfulCreate', 'Created', 'Started']);
  });

  test('imports the disk of a template first and has the status Provisioning in the meantime', () => {
    const { clock, create, vm, find } = simulatedCluster();
    const machine = buildVirtualMachine('db', {
      dataVolumeTemplates: [
        {
          metadata: { name: 'db-root' },
          spec: {
            source: { http: { url: 'https://images.example/f.qcow2' } },
            storage: { resources: { requests: { storage: '20Gi' } } },
          },
        },
      ],
    });
    machine.spec.template.spec.volumes = [{ name: 'root', dataVolume: { name: 'db-root' } }];
    create(machine);
    clock.advance(8_000);
    expect(vm('db')?.status?.printableStatus).toBe('Provisioning');
    const importing = find<{ status: { phase: string; progress: string } } & ReturnType<typeof buildVirtualMachine>>(
      RESOURCES.dataVolume,
      'db-root',
    );
    expect(importing?.status).toMatchObject({ phase: 'ImportInProgress' });
    expect((importing?.status as unknown as { progress: string }).progress).toMatch(/^\d+\.\d\d%$/);
    clock.advance(40_000);
    expect(vm('db')?.status?.printableStatus).toBe('Running');
  });
});
