import type { Clock } from '@headgate/domain-contracts';
import { KubeSandbox, type KubeObject as StoredObject, type RequestMatcher } from '@headgate/kube-sandbox';
import { HurriedClock } from '../testing/faulty-cluster.contract.js';
import { KubeApi } from './kube-api.js';
import { KubeCredentials } from './kube-credentials.js';
import type { KubeObject } from './kube-object.js';
import { ACCESS_REVIEWS, NAMESPACES, SECRETS } from './resources.js';

const SECRET: RequestMatcher = { resource: 'secrets' };
const POST: RequestMatcher = { ...SECRET, verb: 'create' };
const PATH = { namespace: 'lab', name: 's' };

/** A clock whose time passes only with the pauses of a request, without waiting. */
class CountingClock extends HurriedClock {
  private passedMs = 0;

  override now(): number {
    return this.passedMs;
  }

  override delay(ms: number): Promise<void> {
    this.passedMs += ms;
    return super.delay(0);
  }
}

describe('KubeApi and lost answers', () => {
  let sandbox: KubeSandbox;
  let api: KubeApi;
  let credentials: KubeCredentials;

  beforeEach(async () => {
    sandbox = await KubeSandbox.listen({ namespaces: ['lab'] });
    credentials = new KubeCredentials({ text: sandbox.kubeconfig() });
    api = apiOver(new HurriedClock());
  });
  afterEach(async () => {
    credentials.close();
    await sandbox.close();
  });

  const apiOver = (clock: Clock): KubeApi => new KubeApi('prod', credentials, clock);
  const create = (metadata: KubeObject['metadata'] = PATH) => api.create(SECRETS, { metadata });
  const stored = (): StoredObject[] => sandbox.store.list('secrets', { namespace: 'lab' });
  const others = (name: string): StoredObject => {
    const metadata: StoredObject['metadata'] = { name, namespace: 'lab' };
    return sandbox.store.create('secrets', {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata,
      type: 'Opaque',
    } as StoredObject);
  };

  test.each(['before', 'unanswered', 'halfway'] as const)(
    'creates an object once when the connection is reset %s',
    async (moment) => {
      sandbox.faults.reset(POST, moment, { times: 1 });
      const { metadata } = await create();
      expect(stored().map(({ metadata: { uid } }) => uid)).toEqual([metadata.uid]);
      expect(sandbox.requests.count(POST)).toBe(moment === 'before' ? 2 : 1);
    },
  );

  test('creates an object with a generated name once', async () => {
    sandbox.faults.reset(POST, 'unanswered', { times: 1 });
    const { metadata } = await create({ namespace: 'lab', generateName: 'new-' });
    expect(metadata.name).toMatch(/^new-[a-z0-9]{5}$/);
    expect(stored()).toHaveLength(1);
  });

  test('finds its object when the lookup is disturbed, too', async () => {
    sandbox.faults.reset(POST, 'unanswered', { times: 1 });
    sandbox.faults.reset({ ...SECRET, verb: 'list' }, 'before', { times: 2 });
    await create();
    expect(sandbox.requests.count(POST)).toBe(1);
  });

  test('reports the object of another client as such, also when that answer is lost, and leaves it alone', async () => {
    const other = others('s');
    sandbox.faults.reset(POST, 'unanswered', { times: 1 });
    await expect(create()).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    expect(sandbox.requests.count(POST)).toBe(2);
    await expect(create()).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    expect(stored()).toEqual([other]);
  });

  test('does not send a creation again when it does not know whether the object exists', async () => {
    sandbox.faults.reset(POST, 'before', { times: 1 });
    sandbox.faults.forbid({ ...SECRET, verb: 'list' });
    await expect(create()).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
    expect(sandbox.requests.count(POST)).toBe(1);
  });

  test('ends when every attempt of a creation is reset', async () => {
    sandbox.faults.reset(POST, 'before');
    await expect(create()).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
    expect(sandbox.requests.count(POST)).toBe(4);
    expect(stored()).toEqual([]);
  });

  test('creates a namespace once, which it may read and not list', async () => {
    sandbox.faults.reset({ resource: 'namespaces', verb: 'create' }, 'unanswered', { times: 1 });
    sandbox.faults.forbid({ resource: 'namespaces', verb: 'list' });
    expect((await api.create(NAMESPACES, { metadata: { name: 'new' } })).metadata.uid).toBeDefined();
  });

  test('sends reviews and dry runs again, without an id', async () => {
    const reviews = { resource: 'selfsubjectaccessreviews.authorization.k8s.io' };
    sandbox.faults.reset(reviews, 'unanswered', { times: 2 });
    const spec = { resourceAttributes: { verb: 'list', resource: 'pods' } };
    expect(await api.create(ACCESS_REVIEWS, { metadata: {}, spec } as KubeObject)).toMatchObject({
      status: { allowed: true },
    });
    sandbox.faults.reset(POST, 'unanswered', { times: 1 });
    expect((await api.create(SECRETS, { metadata: PATH }, { dryRun: true })).metadata.annotations).toBeUndefined();
    expect(stored()).toEqual([]);
  });

  test.each(['before', 'unanswered', 'halfway'] as const)('reads again after a reset %s', async (moment) => {
    others('s');
    sandbox.faults.reset(SECRET, moment, { times: 3 });
    expect((await api.list(SECRETS, { namespace: 'lab' })).length).toBe(1);
  });

  test('deletes an object, also when the answer is lost, and never one that was created meanwhile', async () => {
    const { metadata } = others('s');
    sandbox.faults.reset({ ...SECRET, verb: 'delete' }, 'unanswered', { times: 1 });
    expect(await api.delete(SECRETS, PATH, { uid: metadata.uid })).toBe(true);
    expect(stored()).toEqual([]);
    expect(await api.delete(SECRETS, PATH)).toBe(false);
  });

  test('applies a patch once when the answer is lost, and protects the changes of others', async () => {
    others('s');
    const patch = { ...SECRET, verb: 'patch' };
    const begin = (): unknown =>
      sandbox.store.patch('secrets', PATH, (draft) => {
        Object.assign(draft, { data: { key: 'YQ==' } });
        draft.metadata.labels = { step: 'first' };
      });
    const change = (after: string) =>
      api.jsonPatch(SECRETS, PATH, [
        { op: 'test', path: '/metadata/labels/step', value: 'first' },
        { op: 'add', path: '/metadata/labels/step', value: after },
        { op: 'remove', path: '/data' },
      ]);
    for (const moment of ['unanswered', 'before'] as const) {
      begin();
      sandbox.requests.reset();
      sandbox.faults.reset(patch, moment, { times: 1 });
      expect((await change(moment)).metadata.labels).toEqual({ step: moment });
      expect(sandbox.requests.count(patch)).toBe(moment === 'before' ? 2 : 1);
    }
    sandbox.faults.reset(patch, 'before', { times: 1 });
    await expect(change('late')).rejects.toMatchObject({ response: { status: 422 } });
    expect(stored()[0]?.metadata.labels).toEqual({ step: 'before' });
  });

  describe('replaces an object', () => {
    const PUT = { ...SECRET, verb: 'update' };
    const read = async (): Promise<KubeObject> => (await api.list<KubeObject>(SECRETS, { namespace: 'lab' }))[0]!;
    const replaced = ({ metadata }: KubeObject, step: string): KubeObject => ({
      metadata: { ...metadata, labels: { step } },
    });

    test.each(['before', 'unanswered', 'halfway'] as const)('once when the connection is reset %s', async (moment) => {
      others('s');
      const sent = replaced(await read(), 'own');
      sandbox.faults.reset(PUT, moment, { times: 1 });
      const { metadata } = await api.replace(SECRETS, sent);
      expect(metadata).toMatchObject({ labels: { step: 'own' } });
      expect(metadata.resourceVersion).toBe(stored()[0]?.metadata.resourceVersion);
      expect(sandbox.requests.count(PUT)).toBe(moment === 'before' ? 2 : 1);
      expect(await api.replace(SECRETS, replaced({ metadata }, 'next'))).toMatchObject({
        metadata: { labels: { step: 'next' } },
      });
    });

    test('of the given version only, also one that was written with the same content meanwhile', async () => {
      others('s');
      const sent = replaced(await read(), 'own');
      const { metadata } = await api.replace(SECRETS, replaced(await read(), 'own'));
      sandbox.faults.reset(PUT, 'before', { times: 1 });
      await expect(api.replace(SECRETS, sent)).rejects.toMatchObject({ code: 'CONFLICT' });
      expect(stored()[0]?.metadata.resourceVersion).toBe(metadata.resourceVersion);
      // A replacement that is based on the written one is not taken for it.
      sandbox.faults.reset(PUT, 'unanswered', { times: 1 });
      const later = await api.replace(SECRETS, replaced({ metadata }, 'own'));
      expect(later.metadata.resourceVersion).not.toBe(metadata.resourceVersion);
    });

    test('without a version never twice', async () => {
      others('s');
      sandbox.faults.reset(PUT, 'before', { times: 1 });
      await expect(api.replace(SECRETS, { metadata: { ...PATH } })).rejects.toMatchObject({
        code: 'BACKEND_UNREACHABLE',
      });
      expect(sandbox.requests.count(PUT)).toBe(1);
    });

    test('not when it was deleted or may not be read', async () => {
      others('s');
      const sent = replaced(await read(), 'own');
      sandbox.faults.reset(PUT, 'unanswered', { times: 1 });
      sandbox.faults.forbid({ ...SECRET, verb: 'get' });
      await expect(api.replace(SECRETS, sent)).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
      sandbox.faults.clear();
      sandbox.store.delete('secrets', PATH);
      sandbox.faults.reset(PUT, 'before', { times: 1 });
      await expect(api.replace(SECRETS, sent)).rejects.toMatchObject({ response: { status: 404 } });
    });
  });

  test('waits with patches and replacements for an overloaded server', async () => {
    const { metadata } = others('s');
    sandbox.faults.overload(SECRET, { times: 2 });
    await api.jsonPatch(SECRETS, PATH, [{ op: 'add', path: '/metadata/labels', value: { a: 'b' } }]);
    const [now] = await api.list<KubeObject>(SECRETS, { namespace: 'lab' });
    sandbox.faults.overload(SECRET, { times: 2 });
    await api.replace(SECRETS, { metadata: { ...now!.metadata, labels: { a: 'c' } } });
    expect(stored()[0]?.metadata).toMatchObject({ uid: metadata.uid, labels: { a: 'c' } });
  });

  test('names an overloaded server in one sentence', async () => {
    sandbox.faults.overload(SECRET);
    await expect(api.list(SECRETS)).rejects.toMatchObject({
      code: 'BUSY',
      message: 'The API server of prod is overloaded: Too many requests, please try again later.',
    });
  });

  test('sends nothing again later than 15 s after the first attempt', async () => {
    const clock = new CountingClock();
    const slow = { name: 'v.lab.dev', url: 'https://v.lab.svc:443/', delayMs: 10, timeoutSeconds: 0.01 };
    sandbox.faults.slowWebhook(POST, slow);
    api = apiOver(clock);
    await expect(create()).rejects.toMatchObject({ message: expect.stringContaining('context deadline exceeded') });
    sandbox.faults.clear();
    sandbox.faults.overload(POST, {}, 6);
    sandbox.requests.reset();
    await expect(create()).rejects.toMatchObject({ code: 'BUSY' });
    expect(sandbox.requests.count(POST)).toBe(3);
  });

  test('lists everything again when the next page has expired, with each object once', async () => {
    for (let index = 0; index < 260; index++) others(`s-${index}`);
    sandbox.faults.expirePages(SECRET);
    const listed = await api.list(SECRETS, { namespace: 'lab' });
    expect(listed).toHaveLength(260);
    expect(new Set(listed.map(({ metadata }) => metadata.name)).size).toBe(260);
  });
});
