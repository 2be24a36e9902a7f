import type { KubeObject, KubeSandbox } from '@headgate/kube-sandbox';
import { formatRef, type FolderAssignment } from '@headgate/domain-contracts';
import { sandboxFleet } from './sandbox-fleet.js';
import type { SandboxGuest } from './sandbox-usage.js';

describe('the fleet of the simulated cluster', () => {
  let sandbox: KubeSandbox;
  const folders: FolderAssignment[] = [];
  const guests = new Map<string, SandboxGuest>();

  beforeAll(async () => {
    const [conventions, apiServer, seeds] = await Promise.all([
      import('@headgate/kube-adapter'),
      import('@headgate/kube-sandbox'),
      import('@headgate/kubevirt-sandbox'),
    ]);
    const simulation = new seeds.KubevirtSimulation({ timeScale: 0 });
    sandbox = await apiServer.KubeSandbox.listen({ extensions: [simulation] });
    simulation.seedFleet(60, sandboxFleet({ conventions, seeds, context: 'sandbox', folders, guests }));
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
    expect(claims.map(({ name }) => name).sort()).toEqual([
      'docs-preview-1-ct-data',
      'mirror-1-ct-data',
      'netshoot-1-ct-data',
      'notebook-1-ct-data',
      'psql-1-ct-data',
      'toolbox-1-ct-data',
    ]);
    const toolbox = claims.find(({ name }) => name.startsWith('toolbox'));
    expect(JSON.parse(toolbox!.annotations!['svc.dev/spec']!)).toMatchObject({
      image: 'registry.example.org/library/debian:12',
      mem: '512Mi',
      disk: '5Gi',
    });
    const pods = metadata('pods').filter(({ labels }) => labels?.['svc.dev/kind'] === 'ct');
    expect(pods.every(({ labels, name }) => labels?.['svc.dev/name'] === name)).toBe(true);
  });

  test('collects a folder for each object of the cluster, by its ID', () => {
    const objects = [
      ...metadata('virtualmachines.kubevirt.io').map((one) => ({ ...one, kind: 'vm' as const })),
      ...metadata('persistentvolumeclaims')
        .filter(({ labels }) => labels?.['svc.dev/kind'] === 'ct')
        .map(({ labels, ...one }) => ({ ...one, kind: 'ct' as const, name: labels!['svc.dev/name']! })),
    ];
    const identities = objects.map(({ kind, namespace = '', name, uid = '' }) => ({
      ref: formatRef({ kind, context: 'sandbox', namespace, name }),
      uid,
    }));
    expect(identities).toHaveLength(66);
    expect(new Set(folders.map(({ ref, uid }) => `${ref} ${uid}`))).toEqual(
      new Set(identities.map(({ ref, uid }) => `${ref} ${uid}`)),
    );
    // Those of VMs without a disk or a node, which never ran, are left out.
    for (const [uid, { ref }] of guests)
      expect(folders).toContainEqual(expect.objectContaining({ ref: formatRef(ref), uid }));
    expect(guests.size).toBeGreaterThan(50);
    expect([...guests.values()].map(({ ref }) => ref.name)).not.toContain('lab-gpu-1');
    expect(new Set(folders.map(({ path }) => path?.split('/', 1)[0]))).toEqual(
      new Set(['prod', 'stage', 'dev', 'lab']),
    );
  });
});
