import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Api } from './api.js';
import { clusterRoutes } from './cluster-routes.js';
import { RunningService } from './running-service.js';
import { SimulatedCluster } from './simulated-cluster.js';

describe('a cluster that grants the service only the role of deploy/kustomize', () => {
  let folder: string;
  let cluster: SimulatedCluster;
  let service: RunningService;
  let api: Api;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-rights-'));
    cluster = await SimulatedCluster.start('lab', { deployed: true });
    cluster.simulation.seedFleet(10);
    service = await RunningService.start(['--config', SimulatedCluster.configure(folder, [cluster])]);
    api = new Api(service.url);
  }, 600_000);

  afterAll(async () => {
    await service?.stop();
    await cluster?.close();
    rmSync(folder, { recursive: true });
  });

  clusterRoutes(() => ({ api, socketUrl: service.socketUrl, context: 'lab' }));

  test('received no request that the role does not allow', () => {
    expect(cluster.sandbox.requests.summary()).not.toEqual({});
    expect(service.said).not.toMatch(/forbidden/i);
  });
});
