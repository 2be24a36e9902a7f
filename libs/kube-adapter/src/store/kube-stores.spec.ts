import { STORE_RBAC_RULES } from '../rbac.js';
import { storeContracts } from './testing/store-contracts.contract.js';
import { NAMESPACE, readManifest, StoreHarness } from './testing/store-harness.contract.js';
import { until } from './testing/until.contract.js';

const ROLE = 'headgate-store';
/** A cluster that enforces exactly the role of the manifests. */
const open = (): Promise<StoreHarness> => {
  const role = { ...readManifest('replicas/role.yaml'), metadata: { name: ROLE, namespace: NAMESPACE } };
  return StoreHarness.open({
    rbac: { headgate: [`${NAMESPACE}/${ROLE}`] },
    extensions: [{ install: ({ store }) => void store.load([role] as never) }],
  });
};

storeContracts('custom resources', async () => {
  const harness = await open();
  return {
    connect: (options) => harness.connect(options, 'headgate'),
    join: (options) => harness.join(options, 'headgate'),
    close: () => harness.close(),
  };
});

describe('the role of the store', () => {
  test('is the same in deploy/replicas as in the code', () => {
    expect(readManifest('replicas/role.yaml')).toEqual({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: ROLE },
      rules: STORE_RBAC_RULES,
    });
  });

  // The folders are read when they are needed, and their contract suite runs with this role.
  const watched = STORE_RBAC_RULES.flatMap(({ resources }) => resources).filter((resource) =>
    resource.startsWith('service'),
  );

  test.each(watched.flatMap((resource) => ['list', 'watch'].map((verb) => [verb, resource])))(
    'is missed at the start, by name, when it can not %s %s',
    async (verb, resource) => {
      const harness = await StoreHarness.open();
      harness.sandbox.faults.forbid({ resource: `${resource}.svc.dev`, verb });
      await expect(harness.connect().open()).rejects.toMatchObject({
        code: 'BACKEND_FORBIDDEN',
        message: expect.stringContaining(resource),
      });
      await harness.close();
    },
  );

  test('without Leases leaves a replica that shows everything and changes nothing', async () => {
    const harness = await StoreHarness.open();
    harness.sandbox.faults.forbid({ resource: 'leases.coordination.k8s.io', verb: 'create' });
    const warnings: unknown[] = [];
    const log = { info: () => undefined, warn: (fields: object) => void warnings.push(fields) };
    const store = await harness.join({ log: log as never });
    await until(() => warnings.length >= 2);
    expect([store.replicas.isMember, store.replicas.isLeader, store.tokens.all()]).toEqual([false, false, []]);
    expect(JSON.stringify(warnings)).toMatch(/leases/);
    await expect(store.replicas.claim('vm')).rejects.toMatchObject({ code: 'NOT_READY' });
    await harness.close();
  });
});

describe('the definitions of the store', () => {
  const { resources: files } = readManifest<{ resources: string[] }>('vm-service/crds/kustomization.yaml');

  test.each(files)('are required: %s', async (file) => {
    const harness = await StoreHarness.open();
    const { metadata } = readManifest<{ metadata: { name: string } }>(`vm-service/crds/${file}`);
    harness.sandbox.store.delete('customresourcedefinitions.apiextensions.k8s.io', {
      namespace: '',
      name: metadata.name,
    });
    await expect(harness.connect().open()).rejects.toMatchObject({
      code: 'NOT_READY',
      message: expect.stringMatching(/kubectl apply -k deploy\/vm-service\/crds/),
    });
    await harness.close();
  });
});
