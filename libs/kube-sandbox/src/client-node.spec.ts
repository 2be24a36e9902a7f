import {
  AppsV1Api,
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  ListWatch,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  Watch,
  type KubernetesObject,
} from '@kubernetes/client-node';
import { KubeSandbox } from './kube-sandbox.js';

const configMap = (name: string, labels?: Record<string, string>) => ({
  metadata: { name, namespace: 'lab', labels },
  data: { a: '1' },
});

describe('@kubernetes/client-node', () => {
  let sandbox: KubeSandbox;
  let config: KubeConfig;
  let core: CoreV1Api;

  beforeEach(async () => {
    sandbox = await KubeSandbox.listen({ namespaces: ['lab'] });
    config = new KubeConfig();
    config.loadFromString(sandbox.kubeconfig());
    core = config.makeApiClient(CoreV1Api);
  });

  afterEach(() => sandbox.close());

  test('creates, reads, replaces and deletes', async () => {
    await core.createNamespacedConfigMap({ namespace: 'lab', body: configMap('a') });
    const read = await core.readNamespacedConfigMap({ namespace: 'lab', name: 'a' });
    const replaced = await core.replaceNamespacedConfigMap({
      namespace: 'lab',
      name: 'a',
      body: { ...read, data: { a: '2' } },
    });
    expect(replaced.data).toEqual({ a: '2' });
    await core.deleteNamespacedConfigMap({ namespace: 'lab', name: 'a' });
    await expect(core.readNamespacedConfigMap({ namespace: 'lab', name: 'a' })).rejects.toMatchObject({ code: 404 });
  });

  test('receives a conflict', async () => {
    const old = await core.createNamespacedConfigMap({ namespace: 'lab', body: configMap('a') });
    await core.replaceNamespacedConfigMap({ namespace: 'lab', name: 'a', body: { ...old, data: { a: '2' } } });
    const late = core.replaceNamespacedConfigMap({ namespace: 'lab', name: 'a', body: { ...old, data: { a: '3' } } });
    await expect(late).rejects.toMatchObject({ code: 409 });
  });

  test('lists page by page', async () => {
    for (const name of ['a', 'b', 'c'])
      await core.createNamespacedConfigMap({ namespace: 'lab', body: configMap(name) });
    const first = await core.listNamespacedConfigMap({ namespace: 'lab', limit: 2 });
    expect([first.items.length, first.metadata?.remainingItemCount]).toEqual([2, 1]);
    const second = await core.listNamespacedConfigMap({
      namespace: 'lab',
      limit: 2,
      _continue: first.metadata?._continue,
    });
    expect(second.items.map(({ metadata }) => metadata?.name)).toEqual(['c']);
  });

  test('patches', async () => {
    await core.createNamespacedConfigMap({ namespace: 'lab', body: configMap('a') });
    const body = { metadata: { labels: { 'team.example/tag.web': 'true' } } };
    const patched = await core.patchNamespacedConfigMap(
      { namespace: 'lab', name: 'a', body },
      setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
    );
    expect(patched.metadata?.labels).toEqual({ 'team.example/tag.web': 'true' });
  });

  test('reads and changes a scale', async () => {
    sandbox.store.create('deployments.apps', {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: 'lab' },
      spec: { replicas: 2, selector: { matchLabels: { app: 'web' } }, template: { spec: { containers: [] } } },
    });
    const apps = config.makeApiClient(AppsV1Api);
    const scale = await apps.readNamespacedDeploymentScale({ namespace: 'lab', name: 'web' });
    const changed = await apps.replaceNamespacedDeploymentScale({
      namespace: 'lab',
      name: 'web',
      body: { ...scale, spec: { replicas: 5 } },
    });
    expect([changed.spec?.replicas, scale.status?.selector]).toEqual([5, 'app=web']);
  });

  test('works with custom objects', async () => {
    sandbox.registry.register({
      group: 'lab.dev',
      plural: 'machines',
      singular: 'machine',
      kind: 'Machine',
      namespaced: true,
      versions: [{ name: 'v1', served: true }],
    });
    const custom = config.makeApiClient(CustomObjectsApi);
    const where = { group: 'lab.dev', version: 'v1', plural: 'machines' };
    const body = { apiVersion: 'lab.dev/v1', kind: 'Machine', metadata: { generateName: 'm-' }, spec: { size: 1 } };
    await custom.createNamespacedCustomObject({ ...where, namespace: 'lab', body });
    const list = (await custom.listClusterCustomObject(where)) as {
      items: { metadata: { name: string }; kind: string }[];
    };
    expect(list.items).toMatchObject([{ kind: 'Machine', metadata: { name: expect.stringMatching(/^m-\w{5}$/) } }]);
  });

  test('watches', async () => {
    const { metadata } = await core.listNamespacedConfigMap({ namespace: 'lab' });
    const seen: string[] = [];
    let check: () => void = () => undefined;
    const arrival = (count: number): Promise<void> =>
      new Promise((resolve) => (check = () => seen.length >= count && resolve()));
    const three = arrival(3);
    const request = await new Watch(config).watch(
      '/api/v1/namespaces/lab/configmaps',
      { resourceVersion: metadata?.resourceVersion },
      (type: string, { metadata: meta }: KubernetesObject) => {
        seen.push(`${type} ${meta?.name}`);
        check();
      },
      () => undefined,
    );
    await core.createNamespacedConfigMap({ namespace: 'lab', body: configMap('a') });
    await core.replaceNamespacedConfigMap({ namespace: 'lab', name: 'a', body: { ...configMap('a'), data: {} } });
    await core.deleteNamespacedConfigMap({ namespace: 'lab', name: 'a' });
    await three;
    request.abort();
    expect(seen).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a']);
  });

  test('keeps an informer up to date even after its history has expired', async () => {
    await core.createNamespacedConfigMap({ namespace: 'lab', body: configMap('a') });
    const list = () => core.listNamespacedConfigMap({ namespace: 'lab' });
    const informer = makeInformer(config, '/api/v1/namespaces/lab/configmaps', list);
    expect(informer).toBeInstanceOf(ListWatch);
    const added = new Map<string, () => void>();
    const addition = (name: string): Promise<void> => new Promise((resolve) => added.set(name, resolve));
    informer.on('add', ({ metadata }) => added.get(metadata?.name ?? '')?.());
    informer.on('error', () => undefined);
    const first = addition('a');
    await informer.start();
    await first;
    while (sandbox.requests.count({ verb: 'watch' }) === 0) await new Promise(setImmediate);
    const second = addition('b');
    sandbox.store.create('configmaps', { apiVersion: 'v1', kind: 'ConfigMap', ...configMap('b') });
    await second;
    const third = addition('c');
    expect(sandbox.faults.expireHistory('configmaps')).toBe(1);
    sandbox.store.create('configmaps', { apiVersion: 'v1', kind: 'ConfigMap', ...configMap('c') });
    await third;
    await informer.stop();
  });

  test('acts as a service account', async () => {
    const token = sandbox.tokenFor('lab', 'default');
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const body = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' });
    const answer = await fetch(`${sandbox.url}/apis/authentication.k8s.io/v1/selfsubjectreviews`, {
      method: 'POST',
      headers,
      body,
    });
    expect(await answer.json()).toMatchObject({
      status: { userInfo: { username: 'system:serviceaccount:lab:default' } },
    });
  });

  test('is disconnected when the server stops and reconnects after its restart', async () => {
    const watch = await fetch(`${sandbox.url}/api/v1/configmaps?watch=true`);
    const reader = watch.body!.getReader();
    const ended = reader.read().then(
      ({ done }) => (done ? 'ended' : 'data'),
      () => 'cut',
    );
    await sandbox.faults.serverDown();
    expect(await ended).toBe('cut');
    await expect(fetch(`${sandbox.url}/version`)).rejects.toThrow();
    await sandbox.faults.serverUp();
    expect((await fetch(`${sandbox.url}/version`)).status).toBe(200);
  });
});
