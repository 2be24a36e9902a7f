import type { VmView } from '@headgate/api-contracts';
import { Api } from './api.js';
import { clusterRoutes } from './cluster-routes.js';
import { RunningService } from './running-service.js';

describe('npm start -- --sandbox', () => {
  let service: RunningService;
  let api: Api;

  beforeAll(async () => {
    service = await RunningService.start(['--sandbox=30']);
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
    expect(body).toHaveLength(30);
    expect(new Set(body.map(({ status }) => status)).size).toBeGreaterThan(1);
    expect((await api.send<unknown[]>('GET', '/api/images')).body.length).toBeGreaterThan(0);
  });

  clusterRoutes(() => ({ api, socketUrl: service.socketUrl, context: 'sandbox' }));
});
