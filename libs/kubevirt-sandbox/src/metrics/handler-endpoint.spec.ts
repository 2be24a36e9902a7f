import { listeningCluster } from '../testing/listening-cluster.js';
import { RESOURCES } from '../resources.js';
import type { Pod } from '../types/core-kinds.js';
import type { VirtualMachineInstance } from '../types/virtual-machine-instance.js';

type Cluster = Awaited<ReturnType<typeof listeningCluster>>;

const READ = 'kubevirt_vmi_storage_read_traffic_bytes_total';

describe('the endpoint of virt-handler', () => {
  let cluster: Cluster;

  beforeEach(async () => {
    cluster = await listeningCluster({ cluster: { nodes: [{ name: 'node-a' }, { name: 'node-b' }] } });
    cluster.simulation.seedVm({ name: 'web', node: 'node-a' }, { name: 'db', node: 'node-b' });
  });

  afterEach(() => cluster.close());

  const handlerOn = (node: string): string => {
    const where = ({ metadata, spec }: Pod) =>
      metadata.labels?.['kubevirt.io'] === 'virt-handler' && spec.nodeName === node;
    return cluster.sandbox.store.list<Pod>(RESOURCES.pod, { where })[0]!.metadata.name;
  };
  const get = (target: string, path = 'metrics') =>
    cluster.call('GET', `/api/v1/namespaces/kubevirt/pods/${target}/proxy/${path}`);
  const metricsOn = (node: string) => get(`https:${handlerOn(node)}:8443`);
  const counter = (text: string, name: string, series = READ): number => {
    const line = text.split('\n').find((one) => one.startsWith(`${series}{`) && one.includes(`name="${name}"`));
    return Number(line?.split(' ').at(-1));
  };

  test('has the guests of its node and other series, in the text format', async () => {
    const { status, text, headers } = await metricsOn('node-a');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(text).toMatch(/^# HELP go_goroutines /);
    expect(text).toContain(`# TYPE ${READ} counter\n`);
    expect(text).toMatch(new RegExp(`^${READ}\\{drive="[^"]+",.*name="web",namespace="tailvm",node="node-a"\\} `, 'm'));
    expect(text).toMatch(/^kubevirt_vmi_network_transmit_bytes_total\{interface="[^"]+"/m);
    expect(text).not.toContain('name="db"');
    expect(text.endsWith('\n')).toBe(true);
  });

  test('counts what the guests do, and nothing while they are paused', async () => {
    const read = async () => counter((await metricsOn('node-a')).text, 'web');
    const first = await read();
    cluster.clock.advance(15_000);
    const second = await read();
    expect(second).toBeGreaterThan(first);
    await cluster.act('virtualmachineinstances', 'web', 'pause');
    cluster.clock.advance(1000);
    const paused = await read();
    expect(paused).toBeGreaterThanOrEqual(second);
    cluster.clock.advance(3_600_000);
    expect(await read()).toBe(paused);
    await cluster.act('virtualmachineinstances', 'web', 'unpause');
    cluster.clock.advance(1000);
    const after = await read();
    expect(after - paused).toBeLessThan(5 * 40e6);
    cluster.clock.advance(15_000);
    expect(await read()).toBeGreaterThan(after);
  });

  test('begins with zero on the node to which a guest has migrated', async () => {
    cluster.clock.advance(3_600_000);
    const before = counter((await metricsOn('node-a')).text, 'web');
    await cluster.call('POST', '/apis/kubevirt.io/v1/namespaces/tailvm/virtualmachineinstancemigrations', {
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachineInstanceMigration',
      metadata: { name: 'move' },
      spec: { vmiName: 'web' },
    });
    const vmi = () =>
      cluster.sandbox.store.get<VirtualMachineInstance>(RESOURCES.vmi, { namespace: 'tailvm', name: 'web' });
    for (let i = 0; i < 300 && !vmi()?.status?.migrationState?.completed; i++) cluster.clock.advance(1000);
    expect(vmi()?.status?.nodeName).toBe('node-b');
    expect(counter((await metricsOn('node-b')).text, 'web')).toBeLessThan(before / 10);
    expect((await metricsOn('node-a')).text).not.toContain('name="web"');
  });

  test('is only at its port, with TLS and at its path', async () => {
    const handler = handlerOn('node-a');
    expect(await get(`${handler}:8443`)).toMatchObject({ status: 400 });
    expect(await get(`https:${handler}:8443`, 'other')).toMatchObject({ status: 404 });
    expect(await get(`https:${handler}:9999`)).toMatchObject({ status: 503 });
    expect(await get('https:virt-handler-gone:8443')).toMatchObject({ status: 404 });
  });
});
