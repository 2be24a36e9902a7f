import { SystemClock } from '@headgate/domain-contracts';
import { KubeSandbox } from '@headgate/kube-sandbox';
import { KubeApi } from '../api/kube-api.js';
import { KubeCredentials } from '../api/kube-credentials.js';
import { keyOf, type KubeObject } from '../api/kube-object.js';
import { PODS, SECRETS } from '../api/resources.js';
import type { KindState } from './kind-watch.js';
import { KindWatch } from './kind-watch.js';
import { Reachability } from './reachability.js';

/** A sink whose contents and states a test can wait for. */
class RecordingSink {
  readonly objects = new Map<string, string>();
  readonly states: KindState['state'][] = [];
  private waiting: { isMet: () => boolean; resolve: () => void }[] = [];

  upsert(object: KubeObject): void {
    this.objects.set(keyOf(object), object.metadata.labels?.step ?? '');
    this.resolveWaiting();
  }

  remove(key: string): void {
    this.objects.delete(key);
    this.resolveWaiting();
  }

  keys(): Iterable<string> {
    return this.objects.keys();
  }

  state(state: KindState): void {
    this.states.push(state.state);
    this.resolveWaiting();
  }

  until(isMet: () => boolean): Promise<void> {
    return isMet() ? Promise.resolve() : new Promise((resolve) => this.waiting.push({ isMet, resolve }));
  }

  private resolveWaiting(): void {
    this.waiting = this.waiting.filter(({ isMet, resolve }) => !isMet() || resolve());
  }
}

describe('KindWatch', () => {
  let sandbox: KubeSandbox;
  let api: KubeApi;
  let credentials: KubeCredentials;
  let stops: (() => Promise<void> | void)[] = [];
  const clock = new SystemClock();

  beforeEach(async () => {
    sandbox = await KubeSandbox.listen({ namespaces: ['lab', 'other'] });
    credentials = new KubeCredentials({ text: sandbox.kubeconfig() });
    api = new KubeApi('prod', credentials, clock);
  });
  afterEach(async () => {
    for (const stop of stops.reverse()) await stop();
    stops = [];
    credentials.close();
    await sandbox.close();
  });

  const secret = (name: string, step = '0', namespace = 'lab') =>
    api.create(SECRETS, { metadata: { name, namespace, labels: { step } } });
  const mark = (name: string, step: string) =>
    api.patch(SECRETS, { namespace: 'lab', name }, { metadata: { labels: { step } } });

  function watch(options: { namespace?: string; resource?: typeof SECRETS } = {}): RecordingSink {
    const collected = new RecordingSink();
    const probe = async (timeoutMs: number) => void (await api.text('GET', '/version', { timeoutMs }));
    const reachability = new Reachability(probe, clock);
    const kind = new KindWatch({
      api,
      clock,
      reachability,
      resource: SECRETS,
      ...options,
      sink: collected,
      onState: (state) => collected.state(state),
    });
    stops.push(reachability.listen({ lost: () => kind.reconnect(), up: () => undefined }), () => kind.stop());
    kind.start();
    return collected;
  }
  const following = (collected: RecordingSink, times = 1) =>
    collected.until(() => collected.states.filter((state) => state === 'following').length >= times);

  test('lists page by page, then follows on one connection', async () => {
    for (let i = 0; i < 7; i++) await secret(`s${i}`);
    const collected = watch();
    await following(collected);
    expect(collected.objects.size).toBe(7);
    await mark('s1', '1');
    await api.delete(SECRETS, { namespace: 'lab', name: 's2' });
    await secret('s7');
    await collected.until(() => collected.objects.has('lab/s7'));
    expect(collected.objects.get('lab/s1')).toBe('1');
    expect(collected.objects.has('lab/s2')).toBe(false);
    expect(sandbox.requests.count({ verb: 'list', resource: 'secrets' })).toBe(1);
    expect(sandbox.requests.count({ verb: 'watch', resource: 'secrets' })).toBe(1);
  });

  test('resumes a watch that is cut off inside a line, without a new list', async () => {
    await secret('s0');
    const collected = watch();
    await following(collected);
    sandbox.faults.cutWatches();
    await mark('s0', '1');
    await collected.until(() => collected.objects.get('lab/s0') === '1');
    expect(sandbox.requests.count({ verb: 'list', resource: 'secrets' })).toBe(1);
  });

  test('resumes a watch that the server ends in good order', async () => {
    await secret('s0');
    const collected = watch();
    await following(collected);
    sandbox.faults.endWatches();
    await mark('s0', '1');
    await collected.until(() => collected.objects.get('lab/s0') === '1');
    expect(sandbox.requests.count({ verb: 'list', resource: 'secrets' })).toBe(1);
  });

  test('lists again on 410, and removes the objects deleted in the meantime', async () => {
    await secret('stays');
    await secret('goes');
    const collected = watch();
    await following(collected);
    await sandbox.faults.serverDown();
    sandbox.store.delete('secrets', { namespace: 'lab', name: 'goes' });
    sandbox.faults.expireHistory();
    await sandbox.faults.serverUp();
    await collected.until(() => !collected.objects.has('lab/goes'));
    expect([...collected.objects.keys()]).toEqual(['lab/stays']);
  });

  test('lists again when an open watch receives 410', async () => {
    await secret('s0');
    const collected = watch();
    await following(collected);
    sandbox.faults.expireHistory();
    await following(collected, 2);
    await mark('s0', '1');
    await collected.until(() => collected.objects.get('lab/s0') === '1');
  });

  test('resumes when the server returns', async () => {
    await secret('s0');
    const collected = watch();
    await following(collected);
    await sandbox.faults.serverDown();
    await collected.until(() => collected.states.includes('broken'));
    await sandbox.faults.serverUp();
    await mark('s0', '1');
    await collected.until(() => collected.objects.get('lab/s0') === '1');
  });

  test('reports an API that is not served as absent', async () => {
    const collected = watch({ resource: { ...PODS, apiVersion: 'nowhere.example/v1', plural: 'things' } });
    await collected.until(() => collected.states.includes('absent'));
    expect(collected.states).toEqual(['absent']);
  });

  test('survives repeated errors', async () => {
    sandbox.faults.failNext({ resource: 'secrets', verb: 'list' }, 500, 2);
    sandbox.faults.failNext({ resource: 'secrets', verb: 'watch' }, 503, 2);
    await secret('s0');
    const collected = watch();
    await following(collected);
    expect(collected.objects.size).toBe(1);
  });

  test('waits while the server fills its cache for a new resource', async () => {
    sandbox.faults.failNext({ resource: 'secrets', verb: 'watch' }, 429, 2, 0);
    await secret('s0');
    const collected = watch();
    await following(collected);
    expect(collected.states).toEqual(['following']);
    expect(sandbox.requests.count({ verb: 'list', resource: 'secrets' })).toBe(1);
  });

  test('is broken when the server stays overloaded', async () => {
    sandbox.faults.failNext({ resource: 'secrets', verb: 'watch' }, 429, Infinity, 0);
    const collected = watch();
    await collected.until(() => collected.states.includes('broken'));
    sandbox.faults.clear();
    await following(collected);
    expect(sandbox.requests.count({ verb: 'watch', resource: 'secrets' })).toBeGreaterThan(5);
  });

  test('follows only its own namespace', async () => {
    await secret('own');
    await secret('foreign', '0', 'other');
    const collected = watch({ namespace: 'lab' });
    await following(collected);
    expect([...collected.objects.keys()]).toEqual(['lab/own']);
  });
});
