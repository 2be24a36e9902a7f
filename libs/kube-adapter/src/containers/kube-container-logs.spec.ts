import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { InstanceRef, LogRequest } from '@headgate/domain-contracts';
import type { KubeObject } from '@headgate/kube-sandbox';
import { FixedClock } from '@headgate/testing';
import { KubeApiError } from '../api/kube-api-error.js';
import type { KubeApi } from '../api/kube-api.js';
import { SandboxHarness } from '../testing/sandbox-harness.contract.js';
import { KubeContainerLogs } from './kube-container-logs.js';

const BOX: InstanceRef = { kind: 'ct', context: 'lab', namespace: 'tailvm', name: 'box' };
const { signal } = new AbortController();
const MIB = 1024 ** 2;

/** A cluster in which the pod of the container exists, and whose answer about its log is given. */
const logsOf = (stream: KubeApi['stream'], clock = new FixedClock(0)) => {
  const list = async () => [{ metadata: { name: 'box', namespace: 'tailvm' } }];
  return new KubeContainerLogs({ list: list as unknown as KubeApi['list'], stream }, clock);
};

const refusing = (status: number, message: string) => async (): Promise<never> => {
  throw new KubeApiError('REJECTED_BY_BACKEND', message, { status, reason: 'BadRequest', text: message });
};

describe('KubeContainerLogs', () => {
  test('opens a quiet log that is followed before the kubelet answers, and passes on what follows', async () => {
    const clock = new FixedClock(0);
    const answer = Promise.withResolvers<Readable>();
    const opening = logsOf(() => answer.promise as never, clock).open(BOX, { follow: true }, signal);
    await new Promise(setImmediate);
    clock.advance(2_000);
    const log = await opening;
    answer.resolve(Readable.from(['the first line\n']));
    expect(await text(log)).toBe('the first line\n');
    expect(clock.pending).toBe(0);
  });

  test('breaks a quiet log off when the kubelet refuses it later', async () => {
    const clock = new FixedClock(0);
    const answer = Promise.withResolvers<Readable>();
    const opening = logsOf(() => answer.promise as never, clock).open(BOX, { follow: true }, signal);
    await new Promise(setImmediate);
    clock.advance(2_000);
    const log = await opening;
    answer.reject(new KubeApiError('BACKEND_FAILED', 'The node is gone.', { status: 500, reason: '', text: 'gone' }));
    await expect(text(log)).rejects.toThrow('The node is gone.');
  });

  test('leaves no timer behind when the kubelet answers or refuses at once', async () => {
    const clock = new FixedClock(0);
    await logsOf((async () => Readable.from([])) as never, clock).open(BOX, { follow: true }, signal);
    const refused = logsOf(refusing(400, 'container "main" in pod "box" is waiting to start: x'), clock);
    await expect(refused.open(BOX, { follow: true }, signal)).rejects.toMatchObject({ code: 'WRONG_STATE' });
    expect(clock.pending).toBe(0);
  });

  test.each([
    ['container "main" in pod "box" is waiting to start: PodInitializing', 'WRONG_STATE', /has not started yet/],
    ['previous terminated container "main" in pod "box" not found', 'WRONG_STATE', /has no previous log/],
    ['something else', 'REJECTED_BY_BACKEND', /^something else$/],
  ])('explains the refusal %s', async (message, code, explained) => {
    for (const follow of [false, true]) {
      const open = logsOf(refusing(400, message)).open(BOX, { follow }, signal);
      await expect(open).rejects.toMatchObject({ code, message: expect.stringMatching(explained) });
    }
  });

  test('reports a pod that was deleted meanwhile as stopped', async () => {
    const open = logsOf(refusing(404, 'pods "box" not found')).open(BOX, {}, signal);
    await expect(open).rejects.toMatchObject({ code: 'WRONG_STATE', message: expect.stringMatching(/is stopped/) });
  });

  test('sends the parameters of the request, and no others', async () => {
    const asked: unknown[] = [];
    const stream = async (path: string, { query }: { query?: unknown } = {}) => {
      asked.push([path, JSON.parse(JSON.stringify(query))]);
      return Readable.from([]);
    };
    const request: LogRequest = { tailLines: 5, since: '2026-01-01T00:00:00Z', previous: true, timestamps: true };
    await logsOf(stream as never).open(BOX, request, signal);
    await logsOf(stream as never).open(BOX, { follow: true }, signal);
    const path = '/api/v1/namespaces/tailvm/pods/box/log';
    expect(asked).toEqual([
      [path, { container: 'main', tailLines: 5, sinceTime: request.since, previous: true, timestamps: true }],
      [path, { container: 'main', follow: true }],
    ]);
  });
});

describe('logs and events of containers in a cluster', () => {
  let harness: SandboxHarness;

  beforeAll(async () => {
    harness = await SandboxHarness.open();
  });
  afterAll(() => harness.close());

  const created = async (): Promise<InstanceRef> => {
    const ref = harness.freshContainer();
    const size = { cpu: 1, memoryBytes: 256 * MIB, diskBytes: 1024 * MIB, storageClass: '', privileged: false };
    await harness.backend.require('containers').create({ ref, image: 'debian:12', ...size });
    await harness.recorder.untilContainer(ref, ({ phase }) => phase === 'Running');
    return ref;
  };
  const read = async (ref: InstanceRef, request: LogRequest = {}) =>
    text(await harness.backend.require('containerLogs').open(ref, request, signal));

  test('say that they are simulated', async () => {
    const ref = await created();
    expect(await read(ref)).toContain(`simulated container main of pod ${ref.namespace}/${ref.name}`);
  });

  test('have the run before a restart', async () => {
    const ref = await created();
    const { store } = harness.sandbox;
    const pod = structuredClone(store.require<RestartedPod>('pods', ref));
    const [status] = pod.status.containerStatuses;
    const lastState = { terminated: { exitCode: 3, reason: 'Error', finishedAt: '2026-01-01T00:00:05Z' } };
    pod.status.containerStatuses = [{ ...status, restartCount: 1, lastState }];
    store.update('pods', pod);
    expect(await read(ref, { previous: true })).toMatch(/ended with exit code 3 \(simulated\)\n$/);
    expect(await read(ref)).not.toContain('ended');
  });

  test('are never those of a pod of another owner that has the name', async () => {
    const ref = await created();
    await harness.backend.require('containers').stop(ref);
    await harness.recorder.untilContainer(ref, ({ phase }) => phase === 'Stopped');
    const { namespace, name } = ref;
    const { store } = harness.sandbox;
    const { metadata } = store.create<KubeObject & { spec: object }>('pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace },
      spec: { containers: [{ name: 'main', image: 'foreign:1' }] },
    });
    const involvedObject = { apiVersion: 'v1', kind: 'Pod', name, namespace, uid: metadata.uid };
    const lastTimestamp = new Date(Date.now() + 60_000).toISOString();
    const event = { type: 'Normal', reason: 'Foreign', message: 'Of another owner.', involvedObject, lastTimestamp };
    store.create('events', { apiVersion: 'v1', kind: 'Event', metadata: { name: `${name}.1`, namespace }, ...event });
    await expect(read(ref)).rejects.toMatchObject({ code: 'WRONG_STATE' });
    const events = await harness.backend.require('events').recent(ref, 50);
    const reasons = events.map(({ object, reason }) => `${object} ${reason}`);
    expect(reasons).toContain(`Pod/${name} Started`);
    expect(reasons).not.toContain(`Pod/${name} Foreign`);
  });
});

interface RestartedPod extends KubeObject {
  status: { containerStatuses: { restartCount?: number; lastState?: object }[] };
}
