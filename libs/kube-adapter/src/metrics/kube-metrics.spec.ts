import { DomainError, type InstanceRef } from '@headgate/domain-contracts';
import type { KubeApi, ListOptions } from '../api/kube-api.js';
import type { Resource } from '../api/resources.js';
import { SandboxHarness } from '../testing/sandbox-harness.contract.js';
import { KubeMetrics, type KubeMetricsDeps, type MeasuredVm } from './kube-metrics.js';

const MIB = 1024 ** 2;
const WEB: InstanceRef & { kind: 'vm' } = { kind: 'vm', context: 'prod', namespace: 'tailvm', name: 'web' };

/** A metrics API that returns the objects of the test. */
class FakeMetricsApi {
  readonly questions: string[] = [];
  launchers: unknown[] = [];
  containers: unknown[] = [];
  nodes: unknown[] | DomainError = [];

  readonly list = async (resource: Resource, { namespace = '*', labelSelector = '' }: ListOptions = {}) => {
    this.questions.push(`${resource.kind} ${namespace} ${labelSelector}`.trim());
    if (resource.kind !== 'NodeMetrics')
      return labelSelector.startsWith('kubevirt.io') ? this.launchers : this.containers;
    if (this.nodes instanceof DomainError) throw this.nodes;
    return this.nodes;
  };

  metrics(namespaces?: readonly string[], handlers?: KubeMetricsDeps['handlers'], node?: string): KubeMetrics {
    const vmOfGuest = (uid: string): MeasuredVm | undefined => (uid === 'guest-1' ? { ref: WEB, node } : undefined);
    const api = this as unknown as Pick<KubeApi, 'list'>;
    return new KubeMetrics({ api, context: 'prod', namespaces, vmOfGuest, handlers });
  }
}

const launcher = (containers: unknown, uid = 'guest-1', name = 'virt-launcher-web-abcde') => ({
  metadata: { name, namespace: 'tailvm', labels: { 'kubevirt.io/created-by': uid, 'vm.kubevirt.io/name': 'victim' } },
  containers,
});
const usage = (cpu?: unknown, memory?: unknown) => ({ name: 'compute', usage: { cpu, memory } });

describe('KubeMetrics', () => {
  let api: FakeMetricsApi;

  beforeEach(() => {
    api = new FakeMetricsApi();
  });

  test('asks twice per namespace and once for the nodes, however many instances there are', async () => {
    await api.metrics().read();
    expect(api.questions.sort()).toEqual([
      'NodeMetrics *',
      'PodMetrics * kubevirt.io=virt-launcher',
      'PodMetrics * svc.dev/kind=ct',
    ]);
    api.questions.length = 0;
    await api.metrics(['one', 'two']).read();
    expect(api.questions.sort()).toEqual([
      'NodeMetrics *',
      'PodMetrics one kubevirt.io=virt-launcher',
      'PodMetrics one svc.dev/kind=ct',
      'PodMetrics two kubevirt.io=virt-launcher',
      'PodMetrics two svc.dev/kind=ct',
    ]);
  });

  test.each([
    ['nanocores and kibibytes', [usage('123456789n', '524288Ki')], 124, 512 * MIB],
    ['a rounded rate', [usage('123n', '1')], 1, 1],
    ['an exponent', [usage('12e3', '12e3')], 12_000_000, 12_000],
    ['whole cores and bytes as numbers', [usage(2, 1024)], 2000, 1024],
    ['several containers', [usage('100m', '10Mi'), usage('1500u', '5Mi')], 102, 15 * MIB],
    ['one container without values', [usage('100m', '10Mi'), { name: 'init' }, usage()], 100, 10 * MIB],
    ['text that is no quantity', [usage('lots', 'n'), usage('1e999', '9'.repeat(60))], null, null],
    ['negative quantities', [usage('-5m', '-1Mi')], null, null],
    ['no containers', undefined, null, null],
  ])('reads %s', async (_what, containers, cpuMillicores, memoryUsedBytes) => {
    api.launchers = [launcher(containers)];
    const { instances } = await api.metrics().read();
    expect(instances).toEqual([expect.objectContaining({ ref: WEB, cpuMillicores, memoryUsedBytes, cpuTimeMs: null })]);
  });

  test('measures a migrating VM once, by the pod in which its guest runs', async () => {
    const target = launcher([usage('3m', '200Mi')], 'guest-1', 'virt-launcher-web-fghij');
    for (const launchers of [
      [launcher([usage('900m', '1Gi')]), target],
      [target, launcher([usage('900m', '1Gi')])],
      [launcher(undefined), launcher([usage('900m', '1Gi')])],
    ]) {
      api.launchers = launchers;
      const { instances } = await api.metrics().read();
      expect(instances).toEqual([
        expect.objectContaining({ ref: WEB, cpuMillicores: 900, memoryUsedBytes: 1024 * MIB }),
      ]);
    }
  });

  test('has the disks and networks of the node on which the guest runs, of VMs that are measured', async () => {
    api.launchers = [launcher([usage('1', '1Gi')])];
    api.containers = [
      {
        metadata: { name: 'web', namespace: 'tailvm', labels: { 'svc.dev/name': 'web' } },
        containers: [usage('1', '1')],
      },
    ];
    const counters = (value: number) => ({
      diskReadBytes: value,
      diskWrittenBytes: value,
      networkReceivedBytes: null,
      networkTransmittedBytes: value,
    });
    const asked: string[][] = [];
    const read = async (nodes: ReadonlySet<string>) => {
      asked.push([...nodes]);
      return new Map([
        ['node-a', new Map([['tailvm/web', counters(900)], ['tailvm/db', counters(5)]])],
        ['node-b', new Map([['tailvm/web', counters(3)]])],
      ]); // prettier-ignore
    };
    const { instances } = await api.metrics(undefined, { read }, 'node-b').read();
    expect(asked).toEqual([['node-b']]);
    expect(instances).toEqual([
      expect.objectContaining({ ref: WEB, cpuMillicores: 1000, ...counters(3) }),
      expect.objectContaining({ ref: { ...WEB, kind: 'ct' }, diskReadBytes: null }),
    ]);
    const [unplaced] = (await api.metrics(undefined, { read }).read()).instances;
    expect(unplaced).toMatchObject({ cpuMillicores: 1000, diskReadBytes: null, networkTransmittedBytes: null });
    expect(asked.at(-1)).toEqual([]);
  });

  test('takes no pod for a VM or a container that only claims to belong to it', async () => {
    const container = (name: string, labels: object) => ({
      metadata: { name, namespace: 'tailvm', labels },
      containers: [usage('1', '1Gi')],
    });
    api.launchers = [launcher([usage('1', '1Gi')], 'another-guest'), { metadata: {}, containers: [usage('1', '1')] }];
    api.containers = [container('evil', { 'svc.dev/name': 'box' }), container('box', { 'svc.dev/name': 'box' })];
    const { instances } = await api.metrics().read();
    expect(instances.map(({ ref }) => ref)).toEqual([
      { kind: 'ct', context: 'prod', namespace: 'tailvm', name: 'box' },
    ]);
  });

  test('measures instances without the nodes for an account that may not read those', async () => {
    api.launchers = [launcher([usage('1', '1Gi')])];
    api.nodes = new DomainError('BACKEND_FORBIDDEN', 'no');
    expect(await api.metrics().read()).toMatchObject({ instances: [{ ref: WEB }], nodes: [] });
    api.nodes = new DomainError('BACKEND_UNREACHABLE', 'gone');
    await expect(api.metrics().read()).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
  });

  test('names the missing component of a cluster without the metrics-server', async () => {
    const harness = await SandboxHarness.open({ simulation: { without: ['metrics'] } });
    await expect(harness.backend.require('metrics').read()).rejects.toMatchObject({
      code: 'NOT_SUPPORTED',
      message: 'prod does not serve the API metrics.k8s.io/v1beta1: it needs the metrics-server.',
    });
    await harness.close();
  });

  test('measures a container on a simulated cluster', async () => {
    const harness = await SandboxHarness.open();
    const ref = harness.freshContainer();
    const size = { cpu: 1, memoryBytes: 2 ** 29, diskBytes: 2 ** 32, storageClass: '', privileged: false };
    await harness.backend.require('containers').create({ ref, image: 'debian:12', ...size });
    await harness.recorder.untilContainer(ref, ({ phase }) => phase === 'Running');
    const { instances } = await harness.backend.require('metrics').read();
    expect(instances).toEqual([
      expect.objectContaining({ ref, cpuMillicores: expect.any(Number), memoryUsedBytes: expect.any(Number) }),
    ]);
    await harness.close();
  });
});
