import { prepareCluster, removePreparation, SUITE_LABEL } from './prepare-cluster.js';
import { SuiteSandbox } from './testing/suite-sandbox.contract.js';

const NADS = 'network-attachment-definitions.k8s.cni.cncf.io';
const VMS = 'virtualmachines.kubevirt.io';

describe('the preparation of a cluster for the suites', () => {
  let cluster: SuiteSandbox;
  const open = async (options?: Parameters<typeof SuiteSandbox.open>[0]): Promise<void> => {
    cluster = await SuiteSandbox.open(options);
  };
  afterEach(() => cluster.close());

  const create = (resource: string, kind: string, apiVersion: string, metadata: object, spec: object = {}) =>
    cluster.sandbox.store.create(resource, { apiVersion, kind, metadata, spec } as never);
  const namespace = (metadata: object) => create('namespaces', 'Namespace', 'v1', metadata);
  const vm = (name: string) =>
    create(
      VMS,
      'VirtualMachine',
      'kubevirt.io/v1',
      { namespace: 'suite', name },
      { runStrategy: 'Halted', template: { spec: { domain: { devices: {} } } } },
    );

  test('creates a namespace and two networks, once, and removes them again, and nothing else', async () => {
    await open();
    const before = cluster.contents();
    expect(await prepareCluster(cluster.cluster())).toEqual([
      'The namespace suite was created.',
      'The network suite/lan-1 was created.',
      'The network suite/lan-2 was created.',
    ]);
    const prepared = cluster.contents();
    expect(prepared.filter((line) => !before.includes(line))).toHaveLength(3);
    expect(await prepareCluster(cluster.cluster())).toEqual([
      'The namespace suite exists.',
      'The network suite/lan-1 exists.',
      'The network suite/lan-2 exists.',
    ]);
    expect(cluster.contents()).toEqual(prepared);
    expect(await removePreparation(cluster.cluster())).toEqual([
      'The network suite/lan-1 was deleted.',
      'The network suite/lan-2 was deleted.',
      'The namespace suite was deleted.',
    ]);
    expect(cluster.contents()).toEqual(before);
    expect(await removePreparation(cluster.cluster())).toEqual(['There is no namespace suite.']);
  });

  test('is safe to run twice at the same time', async () => {
    await open();
    const [one, other] = await Promise.all([prepareCluster(cluster.cluster()), prepareCluster(cluster.cluster())]);
    expect([...one, ...other].filter((line) => line.includes('created'))).toHaveLength(3);
  });

  test('creates no networks without Multus, and removes the rest', async () => {
    await open({ without: ['multus'] });
    expect(await prepareCluster(cluster.cluster())).toEqual(['The namespace suite was created.']);
    expect(await removePreparation(cluster.cluster())).toEqual(['The namespace suite was deleted.']);
  });

  test('leaves a namespace and a network that it did not create', async () => {
    await open();
    namespace({ name: 'suite', labels: { team: 'a' } });
    create(NADS, 'NetworkAttachmentDefinition', 'k8s.cni.cncf.io/v1', { namespace: 'suite', name: 'lan-1' });
    const before = cluster.contents();
    await prepareCluster(cluster.cluster());
    expect(await removePreparation(cluster.cluster())).toEqual([
      'The network suite/lan-2 was deleted.',
      'The namespace suite stays: it was not created for the suites.',
    ]);
    expect(cluster.contents()).toEqual(before);
  });

  test('keeps its namespace while it contains what the suites did not create', async () => {
    await open();
    await prepareCluster(cluster.cluster());
    vm('contract-0a1b2c3d');
    vm('web');
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'shop', uid: 'u', controller: true };
    const metadata = { namespace: 'suite', name: 'shop-x', ownerReferences: [owner] };
    create('pods', 'Pod', 'v1', metadata, { containers: [{ name: 'a', image: 'a' }] });
    const [, , kept] = await removePreparation(cluster.cluster());
    expect(kept).toMatch(/^The namespace suite stays: the suites did not create .*VirtualMachine web/);
    expect(kept).not.toContain('contract-');
    expect(cluster.contents()).toEqual(expect.arrayContaining([expect.stringContaining('/web ')]));
    cluster.sandbox.store.delete(VMS, { namespace: 'suite', name: 'web' });
    if (cluster.sandbox.store.get('pods', metadata)) {
      expect((await removePreparation(cluster.cluster())).at(-1)).toContain('Pod shop-x');
      cluster.sandbox.store.delete('pods', metadata);
    }
    expect((await removePreparation(cluster.cluster())).at(-1)).toBe('The namespace suite was deleted.');
    expect(cluster.contents().filter((line) => line.includes('contract-'))).toEqual([]);
  });

  test('labels everything that it creates', async () => {
    await open();
    await prepareCluster(cluster.cluster());
    const labeled = [
      cluster.sandbox.store.get('namespaces', { name: 'suite' }),
      ...cluster.sandbox.store.list(NADS, { namespace: 'suite' }),
    ];
    expect(labeled.map((object) => object?.metadata.labels?.[SUITE_LABEL])).toEqual(['true', 'true', 'true']);
  });
});
