import { KubeSandbox } from '@headgate/kube-sandbox';
import { KubevirtSimulation } from './kubevirt-simulation.js';
import { KUBEVIRT_VERSIONS } from './kubevirt-version.js';
import { RESOURCES } from './resources.js';
import { buildVirtualMachine } from './testing/simulated-cluster.js';
import { listeningCluster } from './testing/listening-cluster.js';
import type { VirtualMachine } from './types/virtual-machine.js';

type Cluster = Awaited<ReturnType<typeof listeningCluster>>;

describe('what a cluster serves', () => {
  let cluster: Cluster | undefined;

  afterEach(() => cluster?.close());

  const versionsOf = async (group: string): Promise<string[]> => {
    const { json } = await cluster!.call('GET', `/apis/${group}`);
    return ((json?.['versions'] ?? []) as unknown as { version: string }[]).map(({ version }) => version);
  };

  test.each(KUBEVIRT_VERSIONS)('follows KubeVirt %s', async (kubevirtVersion) => {
    cluster = await listeningCluster({ kubevirtVersion });
    const at = (version: (typeof KUBEVIRT_VERSIONS)[number]) => kubevirtVersion >= version;
    expect(await versionsOf('export.kubevirt.io')).toEqual(at('1.9') ? ['v1', 'v1beta1'] : ['v1beta1', 'v1alpha1']);
    expect(await versionsOf('clone.kubevirt.io')).toEqual(at('1.5') ? ['v1beta1', 'v1alpha1'] : ['v1alpha1']);
    expect(await versionsOf('pool.kubevirt.io')).toEqual(at('1.7') ? ['v1beta1', 'v1alpha1'] : ['v1alpha1']);
    expect(await versionsOf('instancetype.kubevirt.io')).toEqual(
      at('1.6') ? ['v1beta1'] : ['v1beta1', 'v1alpha2', 'v1alpha1'],
    );
    expect(await versionsOf('migrations.kubevirt.io')).toEqual(['v1alpha1']);
    expect(await versionsOf('backup.kubevirt.io')).toEqual(at('1.8') ? ['v1alpha1'] : []);
    expect(await versionsOf('plugin.kubevirt.io')).toEqual(at('1.9') ? ['v1alpha1'] : []);
    const types = await cluster.call(
      'GET',
      '/apis/instancetype.kubevirt.io/v1beta1/virtualmachineclusterinstancetypes',
    );
    expect((types.json?.['items'] as unknown as object[]).length).toBe(at('1.4') ? 65 : 0);
    const kubevirt = await cluster.call('GET', '/apis/kubevirt.io/v1/kubevirts');
    expect(kubevirt.text).toContain(
      `"observedKubeVirtVersion":"v${kubevirtVersion}${kubevirtVersion.length > 3 ? '' : '.0'}"`,
    );
  });

  test('prunes addedNodeSelector with a warning before 1.6', async () => {
    cluster = await listeningCluster({ kubevirtVersion: '1.5' });
    cluster.simulation.seedVm({ name: 'web' });
    const answer = await cluster.call(
      'POST',
      '/apis/kubevirt.io/v1/namespaces/tailvm/virtualmachineinstancemigrations',
      {
        apiVersion: 'kubevirt.io/v1',
        kind: 'VirtualMachineInstanceMigration',
        metadata: { name: 'm' },
        spec: { vmiName: 'web', addedNodeSelector: { x: 'y' } },
      },
    );
    expect(answer.status).toBe(201);
    expect(answer.headers.get('warning')).toContain('unknown field \\"spec.addedNodeSelector\\"');
    expect(answer.json).toMatchObject({ spec: { vmiName: 'web' } });
    expect(answer.text).not.toContain('addedNodeSelector');
  });

  test.each([
    ['cdi', '/apis/cdi.kubevirt.io/v1beta1'],
    ['snapshots', '/apis/snapshot.storage.k8s.io/v1/volumesnapshotclasses'],
    ['multus', '/apis/k8s.cni.cncf.io/v1'],
    ['metrics', '/apis/metrics.k8s.io/v1beta1/nodes'],
    ['kubevirt', '/apis/kubevirt.io/v1'],
  ] as const)('answers 404 in plain text without %s', async (part, path) => {
    cluster = await listeningCluster({ without: [part] });
    expect(await cluster.call('GET', path)).toMatchObject({
      status: 404,
      text: expect.stringContaining('404 page not found') as string,
    });
    if (part === 'kubevirt') cluster.simulation.seedContainer({ name: 'tools' });
    else cluster.simulation.seedDemo();
    cluster.clock.advance(60_000);
    expect(cluster.simulation.errors).toEqual([]);
  });

  test('measures pods that have run for a minute or more, with the same result for every client', async () => {
    cluster = await listeningCluster();
    await cluster.call('POST', cluster.vms, buildVirtualMachine('web'));
    cluster.clock.advance(20_000);
    const path = '/apis/metrics.k8s.io/v1beta1/namespaces/tailvm/pods?labelSelector=vmi.kubevirt.io/id=web';
    expect((await cluster.call('GET', path)).json).toMatchObject({ items: [] });
    cluster.clock.advance(60_000);
    const first = await cluster.call('GET', path);
    expect(first.json).toMatchObject({
      items: [
        {
          window: '15s',
          containers: [{ name: 'compute', usage: { cpu: expect.stringMatching(/^\d+n$/) as string } }, {}],
        },
      ],
    });
    expect((await cluster.call('GET', path)).text).toBe(first.text);
  });

  test('measures almost no CPU of a paused guest, and its load again once it is resumed', async () => {
    cluster = await listeningCluster();
    cluster.simulation.seedVm({ name: 'web' });
    cluster.clock.advance(60_000);
    const measured = async () => {
      const path = '/apis/metrics.k8s.io/v1beta1/namespaces/tailvm/pods?labelSelector=vmi.kubevirt.io/id=web';
      const { items } = (await cluster!.call('GET', path)).json as unknown as {
        items: { containers: { name: string; usage: { cpu: string; memory: string } }[] }[];
      };
      const { cpu, memory } = items[0]!.containers.find(({ name }) => name === 'compute')!.usage;
      return { nanocores: Number.parseInt(cpu), memory };
    };
    const before = await measured();
    expect(before.nanocores).toBeGreaterThan(2_000_000);
    await cluster.act('virtualmachineinstances', 'web', 'pause');
    cluster.clock.advance(1_000);
    expect((await measured()).nanocores).toBeLessThan(1_000_000);
    expect(Number.parseInt((await measured()).memory)).toBeGreaterThan(100_000);
    await cluster.act('virtualmachineinstances', 'web', 'unpause');
    cluster.clock.advance(1_000);
    expect((await measured()).nanocores).toBeGreaterThan(2_000_000);
  });

  test('a sandbox without delays, on real time, starts, stops and deletes a VM', async () => {
    const simulation = new KubevirtSimulation({ timeScale: 0 });
    const sandbox = await KubeSandbox.listen({ extensions: [simulation] });
    const { store } = sandbox;
    const key = { namespace: 'tailvm', name: 'web' };
    const becomes = (condition: (vm: VirtualMachine | undefined) => boolean): Promise<void> =>
      new Promise((resolve) => {
        const check = (): void => {
          if (!condition(store.get<VirtualMachine>(RESOURCES.vm, key))) return;
          unsubscribe();
          resolve();
        };
        const unsubscribe = store.subscribe(RESOURCES.vm, check);
        check();
      });
    await fetch(`${sandbox.url}/apis/kubevirt.io/v1/namespaces/tailvm/virtualmachines`, {
      method: 'POST',
      body: JSON.stringify(buildVirtualMachine('web')),
      headers: { 'Content-Type': 'application/json' },
    });
    await becomes((vm) => vm?.status?.printableStatus === 'Running');
    const stop = `${sandbox.url}/apis/subresources.kubevirt.io/v1/namespaces/tailvm/virtualmachines/web/stop`;
    expect((await fetch(stop, { method: 'PUT' })).status).toBe(202);
    await becomes((vm) => vm?.status?.printableStatus === 'Stopped');
    store.delete(RESOURCES.vm, key);
    await becomes((vm) => vm === undefined);
    await sandbox.close();
    expect(simulation.errors).toEqual([]);
  });
});
