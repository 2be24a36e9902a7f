import { SandboxHarness } from '../testing/sandbox-harness.contract.js';

describe('KubeClusterInventory and KubeDiagnostics', () => {
  const withHarness = async (
    settings: Parameters<typeof SandboxHarness.open>[0],
    run: (harness: SandboxHarness) => Promise<void>,
  ): Promise<void> => {
    const harness = await SandboxHarness.open(settings);
    try {
      await run(harness);
    } finally {
      await harness.close();
    }
  };
  const statusByCheck = async ({ backend }: SandboxHarness): Promise<Record<string, string>> => {
    const checks = await backend.require('diagnostics').checks();
    return Object.fromEntries(checks.map(({ name, status }) => [name, status]));
  };

  test('reports nodes with their roles, storage capabilities and instancetypes', () =>
    withHarness({}, async ({ backend }) => {
      const cluster = backend.require('cluster');
      expect(await cluster.nodes()).toMatchObject([
        {
          name: 'node-a',
          ready: true,
          roles: 'control-plane,worker',
          arch: 'amd64',
          kubelet: expect.stringMatching(/^v1\./),
        },
        { name: 'node-b', roles: 'worker' },
        { name: 'node-c', roles: 'worker' },
      ]);
      expect(await cluster.storage()).toEqual({ storageClass: 'ceph-block', canExpand: true, canSnapshot: true });
      const { instancetypes, preferences, sizes } = await cluster.instancetypes();
      expect(instancetypes).toContain('u1.medium');
      expect(sizes).toContainEqual({ name: 'u1.medium', cpu: 1, memoryBytes: 4 * 1024 ** 3 });
      expect(preferences.length).toBeGreaterThan(10);
    }));

  test('lists the network attachment definitions of all namespaces, and none without Multus', async () => {
    await withHarness({}, async ({ backend, sandbox }) => {
      for (const [namespace, name] of [
        ['tailvm', 'lan'],
        ['default', 'dmz'],
        ['tailvm', 'backup'],
      ] as const) {
        sandbox.store.create('network-attachment-definitions.k8s.cni.cncf.io', {
          apiVersion: 'k8s.cni.cncf.io/v1',
          kind: 'NetworkAttachmentDefinition',
          metadata: { namespace, name },
        });
      }
      expect(await backend.require('cluster').networks()).toEqual([
        { namespace: 'default', name: 'br1' },
        { namespace: 'default', name: 'dmz' },
        { namespace: 'tailvm', name: 'backup' },
        { namespace: 'tailvm', name: 'br1' },
        { namespace: 'tailvm', name: 'lan' },
      ]);
    });
    await withHarness({ simulation: { without: ['multus'] } }, async ({ backend }) => {
      expect(await backend.require('cluster').networks()).toEqual([]);
    });
  });

  test('warns about live updates that wait for a migration, as in a cluster with the default settings', () =>
    withHarness({}, async (harness) => {
      const statuses = await statusByCheck(harness);
      expect(Object.entries(statuses).filter(([, status]) => status !== 'ok')).toEqual([['live-update', 'warning']]);
    }));

  test('finds no problem in a complete cluster', () =>
    withHarness({ simulation: { cluster: { workloadUpdateMethods: ['LiveMigrate'] } } }, async (harness) => {
      const statuses = await statusByCheck(harness);
      expect(Object.entries(statuses).filter(([, status]) => status !== 'ok')).toEqual([]);
      expect(Object.keys(statuses)).toEqual(
        expect.arrayContaining(['api', 'kubevirt', 'cdi', 'storage-class', 'kvm', 'migration', 'rights', 'namespace']),
      );
    }));

  test('names the missing components of a minimal cluster, with a remedy for each', () =>
    withHarness(
      { simulation: { without: ['cdi', 'snapshots', 'multus', 'metrics'], cluster: { storage: false } } },
      async (harness) => {
        expect(await statusByCheck(harness)).toMatchObject({
          api: 'ok',
          kubevirt: 'ok',
          cdi: 'warning',
          multus: 'warning',
          metrics: 'warning',
          'storage-class': 'error',
          'snapshot-class': 'warning',
        });
        const checks = await harness.backend.require('diagnostics').checks();
        for (const { status, remedy } of checks) if (status !== 'ok') expect(remedy).not.toBe('');
        expect(await harness.backend.require('cluster').storage()).toEqual({
          storageClass: '',
          canExpand: false,
          canSnapshot: false,
        });
      },
    ));

  test('creates a missing default namespace', () =>
    withHarness({ backend: { defaultNamespace: 'not-there-yet' } }, async (harness) => {
      const diagnostics = harness.backend.require('diagnostics');
      const [check] = (await diagnostics.checks()).filter(({ name }) => name === 'namespace');
      expect(check).toMatchObject({ status: 'warning', fixable: true });
      expect(await diagnostics.fix()).toEqual(['namespace']);
      expect(await statusByCheck(harness)).toMatchObject({ namespace: 'ok' });
      expect(await diagnostics.fix()).toEqual([]);
    }));

  test('reports one failed check when the server is unreachable', () =>
    withHarness({}, async (harness) => {
      await harness.sandbox.faults.serverDown();
      const checks = await harness.backend.require('diagnostics').checks();
      expect(checks).toMatchObject([
        { name: 'api', status: 'error', message: expect.stringMatching(/can't be reached/) },
      ]);
      await harness.sandbox.faults.serverUp();
    }));
});
