import type { InstanceRef, VirtualMachine } from '@headgate/domain-contracts';
import { vmFacts, vmiFacts } from './vm-facts.js';
import type { VmiObject, VmObject } from '../api/object-types.js';
import { VmTable } from './vm-table.js';

const GIB = 1024 ** 3;

const vm = (
  overrides: { labels?: Record<string, string>; status?: VmObject['status']; spec?: object } = {},
): VmObject => ({
  metadata: {
    name: 'web',
    namespace: 'lab',
    uid: 'u1',
    creationTimestamp: '2026-01-01T00:00:00Z',
    labels: overrides.labels,
  },
  spec: {
    dataVolumeTemplates: [
      { metadata: { name: 'web-root' }, spec: { storage: { resources: { requests: { storage: '20Gi' } } } } },
    ],
    template: {
      spec: {
        domain: {
          cpu: { sockets: 2, cores: 2, threads: 1 },
          memory: { guest: '4Gi' },
          devices: { disks: [{ name: 'cd', cdrom: {} }, { name: 'data' }, { name: 'root', bootOrder: 1 }] },
        },
        volumes: [
          { name: 'data', persistentVolumeClaim: { claimName: 'other' } },
          { name: 'root', dataVolume: { name: 'web-root' } },
        ],
      },
    },
    ...overrides.spec,
  },
  status: overrides.status ?? { printableStatus: 'Running', ready: true },
});

const vmi = (status: VmiObject['status'] = {}): VmiObject => ({
  metadata: { name: 'web', namespace: 'lab' },
  status: { nodeName: 'node-1', interfaces: [{ name: 'default', ipAddress: '10.0.0.7' }], ...status },
});

function open() {
  const reported: string[] = [];
  const table = new VmTable('prod', {
    changed: ({ status }: VirtualMachine) => reported.push(`changed ${status}`),
    removed: ({ name }: InstanceRef) => reported.push(`removed ${name}`),
  });
  const record = (): VirtualMachine | undefined => [...table.records()][0];
  return { table, reported, record };
}

describe('VmTable', () => {
  test('shows the operating system that the agent reports, and when the guest was started, while it runs', () => {
    const { table, record } = open();
    const recorded = vm();
    const annotated = {
      ...recorded,
      metadata: { ...recorded.metadata, annotations: { 'svc.dev/guest-os': 'debian11' } },
    };
    table.setVm('lab/web', vmFacts(annotated));
    table.setVmi('lab/web', vmiFacts(vmi()));
    expect(record()).toMatchObject({ os: 'debian11' });
    expect(record()).not.toHaveProperty('startedAt');
    const stamp = (phase: string, second: number) => ({
      phase,
      phaseTransitionTimestamp: `2026-01-01T00:00:0${second}Z`,
    });
    const phaseTransitionTimestamps = [stamp('Scheduled', 1), stamp('Running', 2)];
    const guestOSInfo = { prettyName: 'Debian GNU/Linux 12 (bookworm)' };
    table.setVmi('lab/web', vmiFacts(vmi({ guestOSInfo, phaseTransitionTimestamps })));
    expect(record()).toMatchObject({ os: 'Debian 12', startedAt: '2026-01-01T00:00:02Z' });
    table.setVm('lab/web', vmFacts({ ...annotated, status: { printableStatus: 'Stopped' } }));
    expect(record()).toMatchObject({ os: 'debian11' });
    expect(record()).not.toHaveProperty('startedAt');
  });

  test('reports a VM as terminating from the moment that its deletion was accepted', () => {
    const { metadata, ...rest } = vm();
    const deleted = { ...rest, metadata: { ...metadata, deletionTimestamp: '2026-01-02T00:00:00Z' } };
    expect(vmFacts(deleted).status).toBe('Terminating');
  });

  test('joins a VM with its live instance, in either order', () => {
    for (const order of ['vm first', 'instance first']) {
      const { table, record } = open();
      const steps = [() => table.setVm('lab/web', vmFacts(vm())), () => table.setVmi('lab/web', vmiFacts(vmi()))];
      for (const step of order === 'vm first' ? steps : steps.reverse()) step();
      expect(record()).toMatchObject({
        ref: { kind: 'vm', context: 'prod', namespace: 'lab', name: 'web' },
        status: 'Running',
        cpu: 4,
        memoryBytes: 4 * GIB,
        diskBytes: 20 * GIB,
        node: 'node-1',
        ip: '10.0.0.7',
      });
    }
  });

  test('shows neither the node nor the address of a VM that is not running', () => {
    const { table, record } = open();
    table.setVmi('lab/web', vmiFacts(vmi()));
    table.setVm('lab/web', vmFacts(vm({ status: { printableStatus: 'Starting' } })));
    expect(record()).not.toHaveProperty('node');
    expect(record()).not.toHaveProperty('ip');
  });

  test('ignores a live instance without a VM', () => {
    const { table, reported, record } = open();
    table.setVmi('lab/web', vmiFacts(vmi()));
    expect(record()).toBeUndefined();
    expect(reported).toEqual([]);
  });

  test('reports only changes of the record', () => {
    const { table, reported } = open();
    table.setVm('lab/web', vmFacts(vm()));
    table.setVm('lab/web', vmFacts(vm()));
    table.setVm('lab/web', vmFacts(vm({ labels: { 'svc.dev/tag.blue': 'true' } })));
    expect(reported).toEqual(['changed Running', 'changed Running']);
  });

  test('reads tags from labels whose value is true, sorted', () => {
    const { table, record } = open();
    const labels = { 'svc.dev/tag.b': 'true', 'svc.dev/tag.a': 'true', 'svc.dev/tag.off': 'false', app: 'x' };
    table.setVm('lab/web', vmFacts(vm({ labels })));
    expect(record()?.tags).toEqual(['a', 'b']);
  });

  test('shows the size of an expanded claim, but not of one that was only rounded up', () => {
    const { table, record } = open();
    table.setVm('lab/web', vmFacts(vm()));
    table.setClaimBytes('lab/web-root', Math.round(20 * GIB * 1.055));
    expect(record()?.diskBytes).toBe(20 * GIB);
    table.setClaimBytes('lab/web-root', Math.ceil((20 * GIB) / (1 - 0.06)));
    expect(record()?.diskBytes).toBe(20 * GIB);
    table.setClaimBytes('lab/web-root', 40 * GIB);
    expect(record()?.diskBytes).toBe(40 * GIB);
  });

  test('shows the size that an instancetype defines', () => {
    const { table, record } = open();
    const spec = { instancetype: { name: 'u1.small' }, template: { spec: { domain: {} } } };
    table.setVm('lab/web', vmFacts(vm({ spec, status: { printableStatus: 'Stopped' } })));
    expect(record()).toMatchObject({ cpu: 1, memoryBytes: 0 });
    table.setInstancetype('/u1.small', { cpu: 1, memoryBytes: 2 * GIB });
    expect(record()).toMatchObject({ cpu: 1, memoryBytes: 2 * GIB });
  });

  test('shows CPU and memory after a live update', () => {
    const { table, record } = open();
    table.setVm('lab/web', vmFacts(vm()));
    table.setVmi(
      'lab/web',
      vmiFacts(vmi({ currentCPUTopology: { sockets: 3, cores: 2, threads: 1 }, memory: { guestCurrent: '6Gi' } })),
    );
    expect(record()).toMatchObject({ cpu: 6, memoryBytes: 6 * GIB });
  });

  test('gives a reason for a VM with a problem', () => {
    const { table, record } = open();
    const conditions = [{ type: 'PodScheduled', status: 'False', message: '0/3 nodes are available' }];
    table.setVm('lab/web', vmFacts(vm({ status: { printableStatus: 'ErrorUnschedulable', conditions } })));
    expect(record()).toMatchObject({ status: 'ErrorUnschedulable', reason: '0/3 nodes are available' });
  });

  test('explains a status that concerns the disks by the DataVolumes of the VM, and no other status', () => {
    const { table, record } = open();
    const reason = 'The disk web-root is being filled.';
    table.setDataVolume('lab/web-root', { reason });
    table.setVm('lab/web', vmFacts(vm({ status: { printableStatus: 'Provisioning' } })));
    expect(record()?.reason).toBe(reason);
    table.setDataVolume('lab/web-root', { reason: 'The disk web-root is gone.' });
    expect(record()?.reason).toBe('The disk web-root is gone.');
    table.setVm('lab/web', vmFacts(vm({ status: { printableStatus: 'Stopped' } })));
    expect(record()?.reason).toBeUndefined();
    table.setVm('lab/web', vmFacts(vm({ status: { printableStatus: 'DataVolumeError' } })));
    table.setDataVolume('lab/web-root', undefined);
    expect(record()?.reason).toBeUndefined();
    expect([...table.dataVolumeKeys()]).toEqual([]);
  });

  test('maps a status that it does not know to Unknown, and names it', () => {
    const { table, record } = open();
    table.setVm('lab/web', vmFacts(vm({ status: { printableStatus: 'Levitating' } })));
    expect(record()).toMatchObject({ status: 'Unknown', reason: 'KubeVirt reports the status Levitating.' });
  });

  test('removes the record with the VM, and the row with its live instance', () => {
    const { table, reported, record } = open();
    table.setVm('lab/web', vmFacts(vm()));
    table.setVmi('lab/web', vmiFacts(vmi()));
    table.setVm('lab/web', undefined);
    table.setVmi('lab/web', undefined);
    expect(record()).toBeUndefined();
    expect(reported.at(-1)).toBe('removed web');
    expect([...table.vmiKeys()]).toEqual([]);
  });
});
