import type { MetricsSampleView, NodeView, UsageHistoryView, VmView } from '@headgate/api-contracts';
import { Api } from './api.js';
import { clusterRoutes } from './cluster-routes.js';
import { RunningService } from './running-service.js';
import { until } from './until.js';

describe('npm start -- --sandbox', () => {
  let service: RunningService;
  let api: Api;

  beforeAll(async () => {
    service = await RunningService.start(['--sandbox=40']);
    api = new Api(service.url);
  }, 600_000);
  afterAll(() => service?.stop());

  test('reports to the user and to clients that its guests are simulated', async () => {
    expect(service.said).toMatch(/its cluster and its guests are simulated/);
    const { body } = await api.send<{ contexts: { simulated: boolean }[] }>('GET', '/api/capabilities');
    expect(body.contexts).toMatchObject([{ simulated: true }]);
  });

  test('serves the requested number of instances and the catalog', async () => {
    const { body } = await api.send<VmView[]>('GET', '/api/vms');
    expect(body).toHaveLength(40);
    expect(new Set(body.map(({ status }) => status)).size).toBeGreaterThan(1);
    expect((await api.send<unknown[]>('GET', '/api/images')).body.length).toBeGreaterThan(0);
  });

  test('measures every running instance with its disks and networks, and every node', async () => {
    const read = async () => (await api.send<VmView[]>('GET', '/api/vms?usage=true')).body;
    const vms = await until('the running VMs are measured', read, (all) =>
      // A rate needs two samples.
      all.every(({ status, usage }) => status !== 'Running' || (usage?.disk && usage.network)),
    );
    const measured = vms.filter(({ status }) => status === 'Running');
    expect(measured.length).toBeGreaterThan(0);
    for (const { usage } of measured) {
      expect(usage).toMatchObject({ cpu: expect.any(Number) });
      for (const rate of [...Object.values(usage?.disk ?? {}), ...Object.values(usage?.network ?? {})])
        expect(rate).toBeGreaterThanOrEqual(0);
      expect(usage?.memory?.usedBytes).toBeGreaterThan(0);
    }
    const busy = measured.filter(
      ({ usage }) => usage?.disk?.readBytesPerSecond && usage.network?.receiveBytesPerSecond,
    );
    expect(busy.length).toBeGreaterThan(0);
    expect(vms.filter(({ running }) => !running).every(({ usage }) => usage === undefined)).toBe(true);
    const [{ namespace, name } = { namespace: '', name: '' }] = measured;
    const history = await api.send<MetricsSampleView[]>('GET', `/api/vms/${namespace}/${name}/metrics/history`);
    expect(history.body.length).toBeGreaterThan(0);
    const { body: nodes } = await api.send<NodeView[]>('GET', '/api/nodes');
    for (const { load, capacity } of nodes) {
      expect(load.cpu).toBeLessThanOrEqual(capacity.cpu ?? 0);
      expect(load.memoryBytes).toBeLessThanOrEqual(capacity.memoryBytes ?? 0);
    }
  });

  test('has a marked past of 30 days for machines that it began with, and none for a new one', async () => {
    const read = async ({ namespace, name }: { namespace: string; name: string }, range: string) =>
      (await api.send<UsageHistoryView>('GET', `/api/ext/vms/${namespace}/${name}/metrics/history?range=${range}`))
        .body;
    const { body: vms } = await api.send<VmView[]>('GET', '/api/vms');
    const isOlder = ({ createdAt }: VmView) => Date.parse(createdAt ?? '') < Date.now() - 31 * 86_400_000;
    const old = vms.find((vm) => vm.status === 'Running' && isOlder(vm))!;
    for (const [range, count] of [
      ['24h', 480],
      ['7d', 672],
      ['30d', 720],
    ] as const) {
      const { points, recordedSince = Infinity } = await read(old, range);
      const invented = points.filter(({ simulated }) => simulated);
      expect(invented.length).toBeGreaterThan(count - 5);
      expect(points.length).toBeLessThanOrEqual(count);
      expect(invented.every(({ t }) => t < recordedSince)).toBe(true);
    }
    const created = { namespace: 'tailvm', name: 'hgfresh' };
    await api.send('POST', '/api/vms', { name: created.name, containerDisk: 'images/tiny:1', mem: '1Gi' });
    await api.untilVm(created.name, 'is listed', (vm) => vm !== undefined);
    for (const range of ['24h', '7d', '30d'])
      expect((await read(created, range)).points.filter(({ simulated }) => simulated)).toEqual([]);
    await api.send('DELETE', '/api/vms/tailvm/hgfresh');
    await api.untilVm(created.name, 'is gone', (vm) => vm === undefined);
  });

  clusterRoutes(() => ({ api, socketUrl: service.socketUrl, context: 'sandbox' }));
});
