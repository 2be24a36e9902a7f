import { readFileSync } from 'node:fs';
import type { InstanceRef } from '@headgate/domain-contracts';
import { parse } from 'yaml';
import { describeConfig } from './describe-networks.js';
import { SandboxHarness } from '../testing/sandbox-harness.contract.js';

const ROLE = 'headgate-vm-service';
const VMS = 'virtualmachines.kubevirt.io';
const VMIS = 'virtualmachineinstances.kubevirt.io';

/** The parts of the objects that these tests change. */
interface Machine {
  spec: {
    runStrategy?: string;
    nodeSelector?: object;
    affinity?: object;
    template?: { spec: { networks?: object[] } };
  };
}

/** A cluster that grants exactly the role of the manifests, and fewer rights if one is left out. */
async function open(without: readonly string[] = []): Promise<SandboxHarness> {
  const role = parse(readFileSync(new URL('../../../../deploy/kustomize/cluster-role.yaml', import.meta.url), 'utf8'));
  const rules = role.rules.filter(({ resources }: { resources: string[] }) => !without.includes(resources[0]!));
  return SandboxHarness.open({
    sandbox: {
      rbac: { headgate: [ROLE] },
      extensions: [{ install: ({ store }) => void store.load([{ ...role, rules }]) }],
    },
    user: 'headgate',
  });
}

describe('the infrastructure of a cluster', () => {
  let harness: SandboxHarness;
  afterEach(() => harness.close());

  const cluster = () => harness.backend.require('cluster');
  const nodeOf = (ref: InstanceRef): string => harness.recorder.vm(ref)?.node ?? '';
  const edit = (kind: string, { namespace, name }: InstanceRef, change: (draft: Machine) => void): void =>
    void harness.sandbox.store.patch(kind, { namespace, name }, change as never);
  const storage = async (name: string) => (await cluster().storages()).find((one) => one.name === name)!;
  const affected = async (ref: InstanceRef) =>
    (await cluster().failureOf(nodeOf(ref))).instances.find((one) => one.ref.name === ref.name)!;

  /** A running VM whose disk is a claim of a storage class. */
  async function givenVmOn(storageClassName: string, accessModes = ['ReadWriteOnce']): Promise<InstanceRef> {
    const ref = await harness.givenVm('Running');
    const { namespace } = ref;
    const claimName = `${ref.name}-data`;
    const resources = { requests: { storage: '3Gi' } };
    harness.sandbox.store.create('persistentvolumeclaims', {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { namespace, name: claimName },
      spec: { storageClassName, accessModes, resources },
    } as never);
    const volume = { name: 'data', persistentVolumeClaim: { claimName } };
    const add = (spec: object): void => void ((spec as { volumes?: object[] }).volumes ??= []).push(volume);
    edit(VMS, ref, ({ spec }) => add(spec.template!.spec));
    edit(VMIS, ref, ({ spec }) => add(spec));
    return ref;
  }

  test('has storage classes with the modes, claims and users, and the space that drivers report', async () => {
    harness = await open();
    const ref = await givenVmOn('topolvm');
    expect(await storage('topolvm')).toMatchObject({
      kind: 'class',
      type: 'topolvm.io',
      isDefault: false,
      canExpand: true,
      capacityBytes: null,
      allocatedBytes: 3 * 1024 ** 3,
      freeBytes: 3 * 800 * 1024 ** 3,
      spaceUnknown: '',
      volumes: 1,
      claimModes: [
        { accessMode: 'ReadWriteOnce', volumeMode: 'Block' },
        { accessMode: 'ReadWriteOnce', volumeMode: 'Filesystem' },
      ],
      users: [ref],
    });
    expect((await storage('topolvm')).segments[0]).toEqual({
      nodes: 'topology.topolvm.io/node=node-a',
      freeBytes: 800 * 1024 ** 3,
      maxVolumeBytes: 800 * 1024 ** 3,
    });
    expect(await storage('ceph-block')).toMatchObject({
      isDefault: true,
      freeBytes: null,
      spaceUnknown: expect.stringMatching(/^No CSIStorageCapacity/),
      users: [],
    });
  });

  test('says why the space is unknown to an account with an older role', async () => {
    harness = await open(['csistoragecapacities', 'storageprofiles']);
    expect(await storage('topolvm')).toMatchObject({
      freeBytes: null,
      spaceUnknown: expect.stringMatching(/may not list/),
      claimModes: [],
    });
  });

  test('has the networks with their plugin, bridge and users', async () => {
    harness = await open();
    const ref = await harness.givenVm('Stopped');
    edit(VMS, ref, ({ spec }) => {
      (spec.template!.spec.networks ??= []).push({ name: 'second', multus: { networkName: 'br1' } });
    });
    const networks = await cluster().networkDetails();
    expect(networks.find(({ namespace }) => namespace === ref.namespace)).toEqual({
      namespace: ref.namespace,
      name: 'br1',
      mode: 'bridge',
      bridge: 'br1',
      isActive: true,
      addresses: [],
      dhcp: [],
      users: [ref],
    });
    expect(networks.find(({ namespace }) => namespace === 'default')?.users).toEqual([]);
  });

  test('a VM with shared disks restarts on every node of its kind, and a cordoned node is none', async () => {
    harness = await open();
    const ref = await givenVmOn('ceph-block', ['ReadWriteMany']);
    const others = ['node-a', 'node-b', 'node-c'].filter((name) => name !== nodeOf(ref));
    expect(await affected(ref)).toMatchObject({ staysDown: '', candidates: others, unchecked: [] });
    harness.sandbox.store.patch('nodes', { name: others[0]! }, ((node: { spec?: object }) => {
      node.spec = { ...node.spec, unschedulable: true };
    }) as never);
    expect((await affected(ref)).candidates).toEqual([others[1]]);
    const nodes = await cluster().nodes();
    expect(nodes.find(({ name }) => name === others[0])?.unschedulable).toBe('The node is cordoned.');
  });

  test('names the conditions that were not checked: rules of affinity, and a disk that one node may use at a time', async () => {
    harness = await open();
    const ref = await givenVmOn('ceph-block');
    edit(VMIS, ref, ({ spec }) => void (spec.affinity = { nodeAffinity: {} }));
    const { staysDown, unchecked } = await affected(ref);
    expect(staysDown).toBe('');
    expect(unchecked).toEqual([
      'its rules of affinity',
      `whether the storage releases ${ref.name}-data, which only one node may use at a time`,
    ]);
  });

  test.each([
    ['a disk on the node', 'topolvm', () => undefined, /-data is on the node: the storage class topolvm has local/],
    [
      'a run strategy that starts nothing',
      'ceph-block',
      (vm: Machine) => void (vm.spec.runStrategy = 'Manual'),
      /^Its run strategy Manual does not start it again\.$/,
    ],
  ])('a VM stays down with %s', async (_case, storageClass, change, reason) => {
    harness = await open();
    const ref = await givenVmOn(storageClass);
    edit(VMS, ref, change);
    expect(await affected(ref)).toMatchObject({ staysDown: expect.stringMatching(reason), candidates: [] });
  });

  test('a VM that is pinned to the node stays down, and so does one that needs a label that no other has', async () => {
    harness = await open();
    const ref = await harness.givenVm('Running');
    const select = (nodeSelector: object): void =>
      edit(VMIS, ref, ({ spec }) => void (spec.nodeSelector = nodeSelector));
    select({ 'kubernetes.io/hostname': nodeOf(ref) });
    expect((await affected(ref)).staysDown).toBe(`It was created for the node ${nodeOf(ref)} and may run on no other.`);
    select({ disk: 'fast' });
    expect((await affected(ref)).staysDown).toBe('No other schedulable node has all labels that it needs: disk=fast.');
  });
});

test.each([
  ['', { mode: '', bridge: '' }],
  ['not JSON', { mode: '', bridge: '' }],
  ['null', { mode: '', bridge: '' }],
  ['{"plugins":[{"type":"macvlan","master":"eth1"}]}', { mode: 'macvlan', bridge: 'eth1' }],
])('reads the configuration %j of a network', (config, expected) => {
  expect(describeConfig(config)).toEqual({ ...expected, addresses: [], dhcp: [] });
});

test('reads the addresses that a plugin assigns', () => {
  const ipam = { range: '10.1.0.0/24', range_start: '10.1.0.10', range_end: '10.1.0.20' };
  expect(describeConfig(JSON.stringify({ type: 'bridge', bridge: 'br1', ipam }))).toEqual({
    mode: 'bridge',
    bridge: 'br1',
    addresses: ['10.1.0.0/24'],
    dhcp: [{ start: '10.1.0.10', end: '10.1.0.20' }],
  });
});
