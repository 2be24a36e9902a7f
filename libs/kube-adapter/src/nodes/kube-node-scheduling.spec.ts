import { formatRef, type InstanceRef, type NodeScheduling } from '@headgate/domain-contracts';
import { recordingReporter } from '@headgate/testing';
import { SandboxHarness } from '../testing/sandbox-harness.contract.js';

let keys = 0;
const freshKey = () => ({ id: `drain-${++keys}`, wasRunning: true });
const NODES = [{ name: 'node-a' }, { name: 'node-b' }];

describe('the drain of a node in a cluster', () => {
  let harness: SandboxHarness;
  let scheduling: NodeScheduling;
  beforeEach(async () => {
    harness = await SandboxHarness.open({ simulation: { cluster: { nodes: NODES } } });
    scheduling = harness.backend.require('nodeScheduling');
  });
  afterEach(() => harness.close());

  const nodeOf = (ref: InstanceRef): string => harness.recorder.vm(ref)?.node ?? '';
  const patch = (kind: string, ref: Partial<InstanceRef> & { name: string }, change: (draft: never) => void): void => {
    const { namespace, name } = ref;
    void harness.sandbox.store.patch(kind, { ...(namespace && { namespace }), name }, change as never);
  };
  const leaving = async (ref: InstanceRef, node: string) =>
    (await scheduling.drainOf(node)).instances.find((one) => formatRef(one.ref) === formatRef(ref));
  const specOf = (node: string) =>
    (harness.sandbox.store.get('nodes', { name: node }) as unknown as { spec?: { unschedulable?: boolean } }).spec;
  const podOf = ({ namespace, name }: InstanceRef) =>
    harness.sandbox.store.get('pods', { namespace, name }) as unknown as
      { metadata: { uid: string }; spec: { nodeName?: string } } | undefined;

  async function givenContainer(privileged: boolean, storageClass = 'ceph-block'): Promise<InstanceRef> {
    const ref = harness.freshContainer();
    const size = { cpu: 1, memoryBytes: 2 ** 29, diskBytes: 2 ** 32 };
    await harness.backend.require('containers').create({ ref, image: 'debian:12', ...size, storageClass, privileged });
    await harness.recorder.until(() =>
      [...harness.recorder.instances.values()].some((one) => 'phase' in one && one.ready && one.ref.name === ref.name),
    );
    return ref;
  }

  test('sets the field that kubectl sets, and removes it', async () => {
    await scheduling.setSchedulable('node-a', false);
    expect(specOf('node-a')).toMatchObject({ unschedulable: true });
    await scheduling.setSchedulable('node-a', true);
    expect(specOf('node-a')).not.toHaveProperty('unschedulable');
  });

  test.each([
    ['LiveMigrate', undefined],
    ['LiveMigrateIfPossible', undefined],
    ['None', undefined],
    ['External', /^The eviction strategy of vm-1 is External: another controller moves it/],
  ])('migrates a VM with the eviction strategy %s, unless another controller does', async (strategy, reason) => {
    const ref = await harness.givenVm('Running');
    patch('virtualmachineinstances.kubevirt.io', ref, (vmi: { spec: object }) => {
      vmi.spec = { ...vmi.spec, evictionStrategy: strategy };
    });
    const found = await leaving(ref, nodeOf(ref));
    expect(found?.way).toBe('migrate');
    if (reason === undefined) expect(found?.refusal).toBeUndefined();
    else expect(found?.refusal).toMatchObject({ code: 'WRONG_STATE', reason: expect.stringMatching(reason) });
  });

  test('refuses a VM that can not migrate with a way out, and never shuts it down', async () => {
    const ref = await harness.givenVm('Running');
    const node = nodeOf(ref);
    patch('virtualmachineinstances.kubevirt.io', ref, (vmi: { spec: object }) => {
      vmi.spec = { ...vmi.spec, nodeSelector: { 'kubernetes.io/hostname': node } };
    });
    expect((await leaving(ref, node))?.refusal).toMatchObject({
      code: 'WRONG_STATE',
      reason: expect.stringMatching(/was created for the node/),
      remedy: expect.stringMatching(/Shut the VM down/),
    });
    await scheduling.setSchedulable(node, false);
    await expect(scheduling.leave(ref, node, freshKey())).rejects.toMatchObject({ code: 'WRONG_STATE' });
    expect(harness.recorder.vm(ref)).toMatchObject({ node, status: 'Running' });
  });

  test('refuses VMs while the other nodes are cordoned', async () => {
    const ref = await harness.givenVm('Running');
    const node = nodeOf(ref);
    await scheduling.setSchedulable(node === 'node-a' ? 'node-b' : 'node-a', false);
    expect(await leaving(ref, node)).toMatchObject({
      candidates: [],
      refusal: { code: 'WRONG_STATE', reason: expect.stringMatching(/no other schedulable node/) },
    });
  });

  test('restarts a container elsewhere with its volume, and names its losses', async () => {
    const ref = await givenContainer(false);
    const node = podOf(ref)!.spec.nodeName!;
    expect(await leaving(ref, node)).toMatchObject({
      way: 'restart',
      memoryBytes: 2 ** 29,
      losses: [`Files of ${ref.name} outside of /data are lost.`],
    });
    await scheduling.setSchedulable(node, false);
    const key = freshKey();
    const { uid } = podOf(ref)!.metadata;
    const work = await scheduling.leave(ref, node, key);
    expect(await scheduling.stateOf(ref, node, key)).toEqual({ state: 'running' });
    await work?.(recordingReporter());
    expect(podOf(ref)?.spec.nodeName).not.toBe(node);
    expect(podOf(ref)?.metadata.uid).not.toBe(uid);
    expect(await scheduling.stateOf(ref, node, key)).toEqual({ state: 'done' });
    expect(await scheduling.leave(ref, node, freshKey())).toBeUndefined();
  });

  test('loses nothing of a container with a persistent root', async () => {
    const ref = await givenContainer(true);
    expect((await leaving(ref, podOf(ref)!.spec.nodeName!))?.losses).toEqual([]);
  });

  test('starts a container again whose drain was canceled between its stop and its start', async () => {
    const ref = await givenContainer(true);
    const node = podOf(ref)!.spec.nodeName!;
    await scheduling.setSchedulable(node, false);
    const key = freshKey();
    await scheduling.leave(ref, node, key);
    await scheduling.discard(ref, node, key);
    expect(podOf(ref)).toBeDefined();
  });

  test('refuses a container whose volume is on the node', async () => {
    const ref = await givenContainer(true, 'topolvm');
    expect((await leaving(ref, podOf(ref)!.spec.nodeName!))?.refusal).toMatchObject({
      code: 'WRONG_STATE',
      reason: expect.stringMatching(/its volume is on the node, because the storage class topolvm has local volumes/),
    });
  });

  test('counts the pods of others, and neither those of DaemonSets nor the launchers of VMs', async () => {
    const ref = await harness.givenVm('Running');
    const node = nodeOf(ref);
    const { others } = await scheduling.drainOf(node);
    const pod = (name: string, ownerReferences: object[] = []) =>
      harness.sandbox.store.create('pods', {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { namespace: 'default', name, ownerReferences },
        spec: { nodeName: node, containers: [{ name: 'main', image: 'nginx' }] },
      } as never);
    pod('web');
    pod('agent', [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'agent-1' }]);
    const after = await scheduling.drainOf(node);
    expect(after.others).toBe(others + 1);
    expect(after.instances.map((one) => formatRef(one.ref))).toEqual([formatRef(ref)]);
  });
});
