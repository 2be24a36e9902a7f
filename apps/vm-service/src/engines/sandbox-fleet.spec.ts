import type { KubeObject, KubeSandbox } from '@headgate/kube-sandbox';
import { sandboxFleet } from './sandbox-fleet.js';

describe('the fleet of the simulated cluster', () => {
  let sandbox: KubeSandbox;

  beforeAll(async () => {
    const [kubeAdapter, apiServer, { KubevirtSimulation }] = await Promise.all([
      import('@headgate/kube-adapter'),
      import('@headgate/kube-sandbox'),
      import('@headgate/kubevirt-sandbox'),
    ]);
    const simulation = new KubevirtSimulation({ timeScale: 0 });
    sandbox = await apiServer.KubeSandbox.listen({ extensions: [simulation] });
    simulation.seedFleet(60, sandboxFleet(kubeAdapter));
  });
  afterAll(() => sandbox.close());

  const metadata = (resource: string) => sandbox.store.list<KubeObject>(resource).map((object) => object.metadata);

  test('tags VMs with their stage and the critical ones', () => {
    const tags = metadata('virtualmachines.kubevirt.io').map(({ labels = {} }) =>
      Object.keys(labels).filter((label) => label.startsWith('svc.dev/tag.')),
    );
    expect(tags.every((list) => list.length > 0)).toBe(true);
    expect(tags.flat()).toContain('svc.dev/tag.critical');
  });

  test('labels the containers as this service does, with the recorded spec on the claim', () => {
    const claims = metadata('persistentvolumeclaims').filter(({ labels }) => labels?.['svc.dev/kind'] === 'ct');
    expect(claims.map(({ name }) => name).sort()).toEqual(['box-000-ct-data', 'box-001-ct-data', 'box-002-ct-data']);
    expect(JSON.parse(claims[0]!.annotations!['svc.dev/spec']!)).toMatchObject({
      image: 'registry.example.org/library/debian:12',
      mem: '512Mi',
      disk: '5Gi',
    });
    const pods = metadata('pods').filter(({ labels }) => labels?.['svc.dev/kind'] === 'ct');
    expect(pods.every(({ labels, name }) => labels?.['svc.dev/name'] === name)).toBe(true);
  });
});
