import { KubeSandbox } from '../../kube-sandbox.js';
import { ApiClient } from '../../testing/api-client.js';
import { denied } from '../admission.js';
import { BUDGETS } from './budgeted-pods.js';
import type { KubeObject } from '../kube-object.js';
import type { PodDisruptionBudget } from './pod-disruption-budget.js';

const PODS = '/api/v1/namespaces/lab/pods';

interface Failure {
  message: string;
  reason?: string;
  details?: { causes: { reason: string; message: string }[] };
}

describe('pods/eviction', () => {
  let sandbox: KubeSandbox;
  let api: ApiClient;

  beforeEach(async () => {
    sandbox = await KubeSandbox.listen({
      namespaces: ['lab'],
      extensions: [
        {
          install: ({ admission }) =>
            admission.addValidating({
              name: 'guard.lab.dev',
              resources: ['pods'],
              subresources: ['eviction'],
              operations: ['CREATE'],
              admit: ({ object, dryRun }) => {
                if (object.metadata.labels?.['guarded'] === 'true') {
                  throw denied('guard.lab.dev', { code: 429, message: `guarded, dry run: ${dryRun}` });
                }
              },
            }),
        },
      ],
    });
    api = new ApiClient(sandbox);
  });

  afterEach(() => sandbox.close());

  const addPod = (
    name: string,
    { ready = true, phase = 'Running', labels = { app: 'web' } as Record<string, string> } = {},
  ) =>
    sandbox.store.create('pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'lab', labels },
      spec: { containers: [{ name: 'main', image: 'x' }] },
      status: { phase, conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
    } as KubeObject);

  const addBudget = (name: string, spec: PodDisruptionBudget['spec']) =>
    sandbox.store.create<PodDisruptionBudget>(BUDGETS, {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name, namespace: 'lab' },
      spec: { selector: { matchLabels: { app: 'web' } }, ...spec },
    });

  const evict = (name: string, body: object = {}, query = '') =>
    api.post<Failure>(`${PODS}/${name}/eviction${query}`, {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name, namespace: 'lab' },
      ...body,
    });
  const exists = (name: string): boolean => sandbox.store.get('pods', { namespace: 'lab', name }) !== undefined;

  test('deletes the pod', async () => {
    addPod('a');
    expect(await evict('a')).toMatchObject({ code: 201, body: { status: 'Success' } });
    expect(exists('a')).toBe(false);
  });

  test.each([
    ['in the query', {}, '?dryRun=All'],
    ['in the delete options', { deleteOptions: { dryRun: ['All'] } }, ''],
  ])('keeps the pod in a dry run %s', async (_where, body, query) => {
    addPod('a');
    expect((await evict('a', body, query)).code).toBe(201);
    expect(exists('a')).toBe(true);
    addPod('b', { labels: { guarded: 'true' } });
    expect((await evict('b', body, query)).body.message).toBe(
      'admission webhook "guard.lab.dev" denied the request: guarded, dry run: true',
    );
  });

  test('refuses a dry run other than All', async () => {
    addPod('a');
    expect(await evict('a', { deleteOptions: { dryRun: ['Some'] } })).toMatchObject({ code: 422 });
    expect(exists('a')).toBe(true);
  });

  test('checks preconditions', async () => {
    const { metadata } = addPod('a');
    const wrong = await evict('a', { deleteOptions: { preconditions: { uid: 'other' } } });
    expect(wrong).toMatchObject({
      code: 409,
      body: {
        reason: 'Conflict',
        message: `Operation cannot be fulfilled on pods "a": Precondition failed: UID in precondition: other, UID in object meta: ${metadata.uid}`,
      },
    });
    expect((await evict('a', { deleteOptions: { preconditions: { uid: metadata.uid } } })).code).toBe(201);
  });

  test('refuses a body for another pod', async () => {
    addPod('a');
    expect(await evict('a', { metadata: { name: 'b' } })).toMatchObject({
      code: 400,
      body: { message: 'name in URL does not match name in Eviction object' },
    });
  });

  test('returns 429 with the budget that the eviction would violate', async () => {
    addPod('a');
    addPod('b');
    addBudget('web', { minAvailable: 1 });
    expect((await evict('a')).code).toBe(201);
    expect(await evict('b')).toMatchObject({
      code: 429,
      body: {
        reason: 'TooManyRequests',
        message: "Cannot evict pod as it would violate the pod's disruption budget.",
        details: {
          causes: [
            {
              reason: 'DisruptionBudget',
              message: 'The disruption budget web needs 1 healthy pods and has 1 currently',
            },
          ],
        },
      },
    });
    expect(exists('b')).toBe(true);
  });

  test('does not protect pods that are not running', async () => {
    addPod('a', { phase: 'Pending' });
    addBudget('web', { minAvailable: 1 });
    expect((await evict('a')).code).toBe(201);
  });

  test('evicts an unhealthy pod only with AlwaysAllow or a healthy budget', async () => {
    addPod('broken', { ready: false });
    addBudget('web', { minAvailable: 1 });
    expect((await evict('broken')).code).toBe(429);
    addPod('healthy');
    expect((await evict('broken')).code).toBe(201);
  });

  test('refuses a pod with several budgets', async () => {
    addPod('a');
    addBudget('one', { minAvailable: 0 });
    addBudget('two', { minAvailable: 0 });
    expect(await evict('a')).toMatchObject({ code: 500 });
  });

  test.each([
    [{ minAvailable: 1 }, { desiredHealthy: 1, disruptionsAllowed: 2 }],
    [{ minAvailable: '50%' }, { desiredHealthy: 2, disruptionsAllowed: 1 }],
    [{ maxUnavailable: 1 }, { desiredHealthy: 2, disruptionsAllowed: 1 }],
    [{ maxUnavailable: '100%' }, { desiredHealthy: 0, disruptionsAllowed: 3 }],
  ])('a budget with %j reports its status', (spec, status) => {
    for (const name of ['a', 'b', 'c']) addPod(name);
    addBudget('web', spec);
    const budget = () => sandbox.store.require<PodDisruptionBudget>(BUDGETS, { namespace: 'lab', name: 'web' });
    expect(budget().status).toMatchObject({ expectedPods: 3, currentHealthy: 3, ...status });
    sandbox.store.delete('pods', { namespace: 'lab', name: 'c' });
    expect(budget().status).toMatchObject({ expectedPods: 2, currentHealthy: 2 });
  });

  test('refuses a budget with both minAvailable and maxUnavailable', async () => {
    const { code, body } = await api.post<Failure>('/apis/policy/v1/namespaces/lab/poddisruptionbudgets', {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'both', namespace: 'lab' },
      spec: { minAvailable: 1, maxUnavailable: 1 },
    });
    expect(code).toBe(422);
    expect(body.message).toContain('minAvailable and maxUnavailable cannot be both set');
  });
});
