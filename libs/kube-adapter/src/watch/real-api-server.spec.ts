import { SystemClock, type DomainError } from '@headgate/domain-contracts';
import { describeOnRealApiServer, RealApiServer, stopwatch } from '@headgate/testing';
import { KubeApi } from '../api/kube-api.js';
import { KubeConnection } from '../api/kube-connection.js';
import { KubeCredentials } from '../api/kube-credentials.js';
import { keyOf, type KubeObject } from '../api/kube-object.js';
import { pathOf, PODS, SECRETS } from '../api/resources.js';
import { KindWatch } from './kind-watch.js';
import { Reachability } from './reachability.js';
import { versionProbe } from './version-probe.js';

const START_TIMEOUT_MS = 180_000;
const NOTICE_LIMIT_MS = 10_000;
const RETURN_LIMIT_MS = 5_000;
/** How many requests a busy machine answers in time. */
const AT_ONCE = 20;
const FLOW = '/apis/flowcontrol.apiserver.k8s.io/v1';

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
};

/** A system clock that holds pauses until the test releases them. */
class HeldClock extends SystemClock {
  readonly pauses: number[] = [];
  private readonly released = Promise.withResolvers<void>();

  override delay(ms: number): Promise<void> {
    this.pauses.push(ms);
    return this.released.promise;
  }

  release(): void {
    this.released.resolve();
  }
}

describeOnRealApiServer('a real API server', () => {
  const clock = new SystemClock();
  let server: RealApiServer;
  let credentials: KubeCredentials;
  let api: KubeApi;
  let namespace: string;
  let count = 0;
  let stops: (() => Promise<void> | void)[];

  beforeAll(async () => {
    server = await RealApiServer.start();
  }, START_TIMEOUT_MS);
  afterAll(() => server.close());
  beforeEach(async () => {
    namespace = `lab-${++count}`;
    stops = [];
    credentials = new KubeCredentials({ text: server.kubeconfig() });
    api = new KubeApi('real', credentials, clock);
    await server.createNamespace(namespace);
  });
  afterEach(async () => {
    for (const stop of stops.reverse()) await stop();
    credentials.close();
  });

  const secret = (name: string, step = '0'): Promise<KubeObject> =>
    api.create(SECRETS, { metadata: { namespace, name, labels: { step } } });
  const mark = (name: string, step: string): Promise<KubeObject> =>
    api.patch(SECRETS, { namespace, name }, { metadata: { labels: { step } } });

  /** Follows the secrets of the namespace. */
  function follow() {
    const objects = new Map<string, string>();
    const changes: string[] = [];
    const connection = new KubeConnection('real', credentials, clock);
    const reachability = new Reachability(versionProbe(connection), clock);
    const watch = new KindWatch({
      api,
      clock,
      reachability,
      resource: SECRETS,
      namespace,
      sink: {
        upsert: (object: KubeObject) => void objects.set(keyOf(object), object.metadata.labels?.['step'] ?? ''),
        remove: (key) => void objects.delete(key),
        keys: () => objects.keys(),
      },
      onState: ({ state }) => changes.push(state),
    });
    const unlisten = reachability.listen({
      lost: () => {
        changes.push('lost');
        watch.reconnect();
      },
      up: () => changes.push('up'),
    });
    watch.start();
    stops.push(async () => {
      await watch.stop();
      unlisten();
      await reachability.idle();
    });
    return { objects, changes, stepOf: (name: string) => objects.get(`${namespace}/${name}`) };
  }

  describe('is listed and followed', () => {
    test('over several pages, with the changes after them', async () => {
      const names = Array.from({ length: 260 }, (_none, index) => `s${index}`);
      for (let at = 0; at < names.length; at += AT_ONCE)
        await Promise.all(names.slice(at, at + AT_ONCE).map((name) => secret(name)));
      const { objects, changes, stepOf } = follow();
      await until(() => changes.includes('following'));
      expect(objects.size).toBe(names.length);
      await mark('s259', '1');
      await api.delete(SECRETS, { namespace, name: 's0' });
      await until(() => stepOf('s259') === '1' && stepOf('s0') === undefined);
    });

    test('after a restart of etcd, without being lost', async () => {
      await secret('kept');
      const { changes, stepOf } = follow();
      await until(() => changes.includes('following'));
      await server.etcd.kill();
      await server.etcd.start();
      // Until the API server is connected to etcd again, it refuses writes.
      while (!(await mark('kept', '1').catch(() => undefined))) continue;
      await until(() => stepOf('kept') === '1');
      expect(changes).not.toContain('lost');
    });

    test.each(['killed', 'frozen'])('again within 5 s after it was %s, which is noticed within 10 s', async (how) => {
      await secret('kept');
      const { changes, stepOf } = follow();
      await until(() => changes.includes('following') && changes.includes('up'));
      const untilLost = stopwatch();
      if (how === 'killed') await server.server.kill();
      else server.server.freeze();
      await until(() => changes.includes('lost'));
      expect(untilLost()).toBeLessThan(NOTICE_LIMIT_MS);
      changes.length = 0;
      if (how === 'killed') await server.server.start();
      else server.server.thaw();
      const untilBack = stopwatch();
      await until(() => changes.includes('up') && changes.includes('following'));
      expect(untilBack()).toBeLessThan(RETURN_LIMIT_MS);
      await mark('kept', '1');
      await until(() => stepOf('kept') === '1');
    });

    test('from a new list when its version was compacted, without the objects that were deleted in the meantime', async () => {
      await secret('stays');
      await secret('goes');
      const { objects, changes, stepOf } = follow();
      await until(() => changes.includes('following'));
      await server.server.kill();
      await server.deleteStored(`secrets/${namespace}/goes`);
      await server.compact();
      await server.server.start();
      await until(() => stepOf('goes') === undefined);
      expect([...objects.keys()]).toEqual([`${namespace}/stays`]);
      await mark('stays', '1');
      await until(() => stepOf('stays') === '1');
    });
  });

  describe('is written', () => {
    test('with merge patches and JSON patches, of which all operations are applied or none', async () => {
      await secret('one');
      expect((await mark('one', '1')).metadata.labels).toEqual({ step: '1' });
      const failing = api.jsonPatch(SECRETS, { namespace, name: 'one' }, [
        { op: 'add', path: '/metadata/labels/extra', value: 'x' },
        { op: 'test', path: '/metadata/labels/step', value: '7' },
      ]);
      await expect(failing).rejects.toMatchObject({
        message: 'the server rejected our request due to an error in our request',
      });
      const path = { namespace, name: 'one' };
      await api.jsonPatch(SECRETS, path, [{ op: 'remove', path: '/metadata/labels/step' }]);
      expect((await api.get(SECRETS, path)).metadata.labels).toBeUndefined();
    });

    test('by one of two writers of the same version, and once under a name', async () => {
      const stored = await secret('one');
      const first = await api.replace(SECRETS, { ...stored, metadata: { ...stored.metadata, labels: { step: '1' } } });
      await expect(api.replace(SECRETS, stored)).rejects.toMatchObject({ code: 'CONFLICT' });
      await expect(secret('one')).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
      expect((await api.get(SECRETS, { namespace, name: 'one' })).metadata.resourceVersion).toBe(
        first.metadata.resourceVersion,
      );
    });

    test('not at all by a dry run, nor by a deletion of another object of the name', async () => {
      await api.create(SECRETS, { metadata: { namespace, name: 'dry' } }, { dryRun: true });
      expect(await api.find(SECRETS, { namespace, name: 'dry' })).toBeUndefined();
      await secret('one');
      expect(await api.delete(SECRETS, { namespace, name: 'one' }, { uid: 'another' })).toBe(false);
      expect(await api.find(SECRETS, { namespace, name: 'one' })).toBeDefined();
      expect(await api.delete(SECRETS, { namespace, name: 'one' })).toBe(true);
      expect(await api.delete(SECRETS, { namespace, name: 'one' })).toBe(false);
    });
  });

  test('is asked again after the pause that it demands of a client with too many requests', async () => {
    const token = await server.createServiceAccount(namespace, 'eager');
    const user = { kind: 'ServiceAccount', serviceAccount: { namespace, name: 'eager' } };
    await server.create(`${FLOW}/prioritylevelconfigurations`, {
      metadata: { name: namespace },
      spec: {
        type: 'Limited',
        limited: { nominalConcurrencyShares: 0, borrowingLimitPercent: 0, limitResponse: { type: 'Reject' } },
      },
    });
    await server.create(`${FLOW}/flowschemas`, {
      metadata: { name: namespace },
      spec: {
        priorityLevelConfiguration: { name: namespace },
        matchingPrecedence: 2,
        rules: [{ subjects: [user], nonResourceRules: [{ nonResourceURLs: ['*'], verbs: ['*'] }] }],
      },
    });
    const held = new HeldClock();
    const own = new KubeCredentials({ text: server.kubeconfig(token) });
    const connection = new KubeConnection('real', own, held);
    const answers: Promise<string>[] = [];
    // One request at a time is always served.
    while (held.pauses.length === 0) {
      const burst = Array.from({ length: 20 }, () => connection.text('GET', '/version'));
      answers.push(...burst);
      await Promise.race([...burst, until(() => held.pauses.length > 0)]);
    }
    expect(new Set(held.pauses)).toEqual(new Set([1_000]));
    await server.send('DELETE', `${FLOW}/flowschemas/${namespace}`);
    const isServed = async (): Promise<boolean> => {
      const several = Array.from({ length: 20 }, () => server.send('GET', '/version', undefined, { token }));
      return (await Promise.all(several)).every(({ status }) => status === 200);
    };
    while (!(await isServed())) continue;
    held.release();
    for (const answer of await Promise.all(answers)) expect(answer).toContain('v1.34.4');
    own.close();
  });

  test('refuses a socket with the reason, and answers the next request', async () => {
    await server.create(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: 'default' } });
    await server.create(`/api/v1/namespaces/${namespace}/pods`, {
      metadata: { name: 'idle' },
      spec: { containers: [{ name: 'main', image: 'example.org/idle:1' }] },
    });
    const path = pathOf(PODS, { namespace, name: 'idle', subresource: 'exec' });
    const refused = (pod: string): Promise<DomainError> =>
      api.socket(path.replace('idle', pod), ['v5.channel.k8s.io'], 'command=sh&stdout=true').then(
        () => Promise.reject(new Error('it was opened')),
        (error: unknown) => error as DomainError,
      );
    expect(await refused('idle')).toMatchObject({ message: expect.stringContaining('does not have a host assigned') });
    expect(await refused('absent')).toMatchObject({ message: expect.stringContaining('"absent" not found') });
    expect(await api.find(PODS, { namespace, name: 'idle' })).toBeDefined();
  });
});
