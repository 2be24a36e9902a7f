import type { EventObject, Job } from '@headgate/kube-sandbox';
import { RESOURCES } from '../../resources.js';
import { listeningCluster } from '../../testing/listening-cluster.js';
import type { Pod } from '../../types/core-kinds.js';

type Cluster = Awaited<ReturnType<typeof listeningCluster>>;

const JOBS = '/apis/batch/v1/namespaces/tailvm/jobs';
const CORE = '/api/v1/namespaces/tailvm';
const SECOND = 1000;

const job = (spec: Record<string, unknown> = {}, pod: Record<string, unknown> = {}): object => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'work', namespace: 'tailvm' },
  spec: {
    ...spec,
    template: {
      spec: {
        restartPolicy: 'Never',
        containers: [{ name: 'main', image: 'registry.example.org/tool:1', command: ['tool', '--all'] }],
        ...pod,
      },
    },
  },
});

describe('Jobs', () => {
  let cluster: Cluster;
  beforeEach(async () => (cluster = await listeningCluster()));
  afterEach(() => cluster.close());

  const pods = (): Pod[] => cluster.sandbox.store.list<Pod>(RESOURCES.pod, { namespace: 'tailvm' });
  const read = () => cluster.sandbox.store.get<Job>(RESOURCES.job, { namespace: 'tailvm', name: 'work' });
  const conditions = () => read()?.status?.conditions?.map(({ type, reason }) => `${type} ${reason}`);
  const reasons = () =>
    cluster.sandbox.store
      .list<EventObject>('events', { where: (event) => (event as EventObject).involvedObject.kind === 'Job' })
      .map(({ reason }) => reason);
  const logOf = async (pod: Pod | undefined, query = '') =>
    (await cluster.call('GET', `${CORE}/pods/${pod?.metadata.name}/log${query}`)).text;

  test('run one pod with the labels of the server, and complete when it has succeeded', async () => {
    const { status, json } = await cluster.call('POST', JOBS, job());
    expect([status, json]).toMatchObject([201, { spec: { backoffLimit: 6, completions: 1, parallelism: 1 } }]);
    cluster.clock.advance(60 * SECOND);
    const [pod, ...others] = pods();
    expect(others).toEqual([]);
    expect(pod).toMatchObject({
      metadata: {
        labels: { 'batch.kubernetes.io/job-name': 'work', 'controller-uid': read()?.metadata.uid },
        ownerReferences: [{ kind: 'Job', name: 'work', controller: true }],
      },
      status: {
        phase: 'Succeeded',
        containerStatuses: [{ state: { terminated: { exitCode: 0, reason: 'Completed' } } }],
      },
    });
    expect(read()?.status).toMatchObject({ succeeded: 1, failed: 0, completionTime: expect.any(String) as string });
    expect(conditions()).toEqual(['SuccessCriteriaMet CompletionsReached', 'Complete CompletionsReached']);
    expect(reasons()).toEqual(['SuccessfulCreate', 'Completed']);
    expect(await logOf(pod)).toContain('running tool --all');
  });

  test.each([0, 2])('fail after more than %i failed pods, with a growing pause between them', async (backoffLimit) => {
    cluster.simulation.faults.inject('container-fails', { namespace: 'tailvm', name: 'work' });
    await cluster.call('POST', JOBS, job({ backoffLimit }));
    cluster.clock.advance(120 * SECOND);
    expect(pods().map(({ status }) => status?.phase)).toEqual(Array(backoffLimit + 1).fill('Failed'));
    expect(conditions()).toEqual(['FailureTarget BackoffLimitExceeded', 'Failed BackoffLimitExceeded']);
    expect(await logOf(pods()[0])).toBe('error: simulated failure\n');
    if (backoffLimit === 0) return;
    const [first = 0, second = 0, third = 0] = pods()
      .map(({ metadata }) => Date.parse(metadata.creationTimestamp ?? ''))
      .sort();
    expect(third - second).toBeGreaterThan(second - first);
  });

  test('fail at their deadline and end their pod', async () => {
    cluster.simulation.faults.inject('container-hangs', { namespace: 'tailvm', name: 'work' });
    await cluster.call('POST', JOBS, job({ activeDeadlineSeconds: 30 }));
    cluster.clock.advance(29 * SECOND);
    expect([conditions() ?? [], pods()[0]?.status?.phase]).toEqual([[], 'Running']);
    cluster.clock.advance(60 * SECOND);
    expect(conditions()).toEqual(['FailureTarget DeadlineExceeded', 'Failed DeadlineExceeded']);
    expect(pods()).toEqual([]);
  });

  test('are deleted with their pods when their time to live is over', async () => {
    await cluster.call('POST', JOBS, job({ ttlSecondsAfterFinished: 100 }));
    cluster.clock.advance(60 * SECOND);
    expect([conditions()?.length, pods().length]).toEqual([2, 1]);
    cluster.clock.advance(100 * SECOND);
    expect([read(), pods()]).toEqual([undefined, []]);
  });

  test('wait while they are suspended, and take no other restart policy than that of a real server', async () => {
    await cluster.call('POST', JOBS, job({ suspend: true }));
    cluster.clock.advance(60 * SECOND);
    expect(pods()).toEqual([]);
    const always = await cluster.call('POST', JOBS, job({}, { restartPolicy: 'Always' }));
    expect([always.status, always.text]).toEqual([
      422,
      expect.stringContaining(
        'spec.template.spec.restartPolicy: Required value: valid values: \\"OnFailure\\", \\"Never\\"',
      ),
    ]);
    const changed = await cluster.call(
      'PATCH',
      `${JOBS}/work`,
      { spec: { suspend: false } },
      { 'Content-Type': 'application/merge-patch+json' },
    );
    expect(changed.status).toBe(200);
    cluster.clock.advance(60 * SECOND);
    expect(conditions()?.length).toBe(2);
  });

  test('report in events that Pod Security refuses their pods, and go on when it allows them', async () => {
    const enforce = (level: string) =>
      cluster.sandbox.store.patch('namespaces', { name: 'tailvm' }, ({ metadata }) => {
        metadata.labels = { ...metadata.labels, 'pod-security.kubernetes.io/enforce': level };
      });
    enforce('baseline');
    const privileged = {
      hostPID: true,
      containers: [{ name: 'main', image: 'a:1', securityContext: { privileged: true } }],
    };
    expect((await cluster.call('POST', JOBS, job({}, privileged))).status).toBe(201);
    cluster.clock.advance(5 * SECOND);
    expect([pods(), reasons()]).toEqual([[], ['FailedCreate']]);
    const [event] = cluster.sandbox.store.list<EventObject>('events', {
      where: (one) => (one as EventObject).reason === 'FailedCreate',
    });
    expect(event?.message).toMatch(
      /^Error creating: pods "work-\w{5}" is forbidden: violates PodSecurity "baseline:latest": host namespaces \(hostPID=true\), privileged \(container "main" must not set securityContext.privileged=true\)$/,
    );
    enforce('privileged');
    cluster.clock.advance(60 * SECOND);
    expect(conditions()?.length).toBe(2);
  });

  test('start no container before the Secrets of its volumes exist', async () => {
    await cluster.call('POST', JOBS, job({}, { volumes: [{ name: 'keys', secret: { secretName: 'keys' } }] }));
    cluster.clock.advance(60 * SECOND);
    expect(pods()[0]?.status?.phase).toBe('Pending');
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys' }, data: {} };
    expect((await cluster.call('POST', `${CORE}/secrets`, secret)).status).toBe(201);
    cluster.clock.advance(60 * SECOND);
    expect(pods()[0]?.status?.phase).toBe('Succeeded');
  });

  test('follow the output of a container to its end, with timestamps that differ', async () => {
    const target = { namespace: 'tailvm', name: 'work' };
    cluster.simulation.faults.inject('container-hangs', target);
    cluster.simulation.choosePrograms(() => ({ lines: ['one', 'two'], exitCode: 3 }));
    await cluster.call('POST', JOBS, job({ backoffLimit: 0 }));
    cluster.clock.advance(30 * SECOND);
    const following = logOf(pods()[0], '?follow=true&timestamps=true');
    cluster.simulation.faults.clear('container-hangs', target);
    cluster.clock.advance(SECOND);
    const lines = (await following)
      .trimEnd()
      .split('\n')
      .map((line) => line.split(' '));
    expect(lines.map(([, text]) => text)).toEqual(['one', 'two']);
    expect(new Set(lines.map(([time]) => time)).size).toBe(2);
    expect(pods()[0]?.status?.containerStatuses?.[0]?.state.terminated).toMatchObject({ exitCode: 3, reason: 'Error' });
  });
});
