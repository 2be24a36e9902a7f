import type { KubeObject } from '@headgate/kube-sandbox';
import type { KubevirtVersion } from './kubevirt-version.js';
import { buildVirtualMachine } from './testing/simulated-cluster.js';
import { listeningCluster } from './testing/listening-cluster.js';

type Cluster = Awaited<ReturnType<typeof listeningCluster>>;

const GROUP = '/apis/subresources.kubevirt.io/v1';
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices';

let cluster: Cluster;

afterEach(() => cluster.close());

async function namesOf(path: string): Promise<string[]> {
  const { json } = await cluster.call('GET', path);
  return (json!['items'] as unknown as KubeObject[]).map(({ metadata }) => metadata.name);
}

async function tableOf(path: string): Promise<Record<string, unknown>[]> {
  const { json } = await cluster.call('GET', path, undefined, {
    Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
  });
  const { columnDefinitions, rows } = json as unknown as {
    columnDefinitions: { name: string }[];
    rows: { cells: unknown[] }[];
  };
  return rows.map(({ cells }) => Object.fromEntries(columnDefinitions.map(({ name }, index) => [name, cells[index]])));
}

describe('the endpoints of subresources.kubevirt.io without an object', () => {
  test.each(['1.3', '1.6.5', '1.9'] as const)('report the version %s', async (kubevirtVersion) => {
    cluster = await listeningCluster({ kubevirtVersion });
    const gitVersion = kubevirtVersion === '1.6.5' ? 'v1.6.5' : `v${kubevirtVersion}.0`;
    expect(await cluster.call('GET', `${GROUP}/version`)).toMatchObject({ status: 200, json: { gitVersion } });
    expect((await cluster.call('GET', `${GROUP}/guestfs`)).json).toMatchObject({ tag: gitVersion });
    expect((await cluster.call('GET', `${GROUP}/healthz`)).status).toBe(200);
    expect((await cluster.call('GET', `${GROUP}/nothing`)).text).toBe('404 page not found\n');
    const { text } = await cluster.call('GET', GROUP);
    expect(text).not.toContain('"version"');
  });

  test('expand a VM that is not stored', async () => {
    cluster = await listeningCluster();
    const vm = buildVirtualMachine('new', { instancetype: { name: 'u1.medium' } });
    const { domain } = vm.spec.template.spec;
    delete domain.cpu;
    delete domain.memory;
    const path = `${GROUP}/namespaces/tailvm/expand-vm-spec`;
    const { status, json } = await cluster.call('PUT', path, vm);
    expect(status).toBe(200);
    expect(json!['spec']).toMatchObject({ template: { spec: { domain: { memory: { guest: '4Gi' } } } } });
    expect(json!['spec']).not.toHaveProperty('instancetype');
    vm.spec.instancetype = { name: 'absent' };
    expect((await cluster.call('PUT', path, vm)).json).toMatchObject({
      code: 400,
      message: expect.stringContaining('"absent" not found'),
    });
    expect(await namesOf(cluster.vms)).toEqual([]);
  });
});

describe('the definitions of the simulated kinds', () => {
  test('are listed as CustomResourceDefinitions and APIServices', async () => {
    cluster = await listeningCluster();
    expect(await namesOf(CRDS)).toEqual(
      expect.arrayContaining([
        'virtualmachines.kubevirt.io',
        'datavolumes.cdi.kubevirt.io',
        'volumesnapshots.snapshot.storage.k8s.io',
        'network-attachment-definitions.k8s.cni.cncf.io',
      ]),
    );
    expect(await tableOf(SERVICES)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ Name: 'v1.kubevirt.io', Service: 'Local', Available: 'True' }),
        expect.objectContaining({
          Name: 'v1.subresources.kubevirt.io',
          Service: 'kubevirt/virt-api',
          Available: 'True',
        }),
        expect.objectContaining({ Name: 'v1beta1.upload.cdi.kubevirt.io', Service: 'cdi/cdi-api' }),
        expect.objectContaining({ Name: 'v1beta1.metrics.k8s.io', Service: 'kube-system/metrics-server' }),
      ]),
    );
    const { json } = await cluster.call('GET', `${CRDS}/virtualmachines.kubevirt.io`);
    expect(json).toMatchObject({
      spec: {
        scope: 'Namespaced',
        versions: [
          { name: 'v1', storage: true },
          { name: 'v1alpha3', storage: false },
        ],
      },
      status: {
        conditions: expect.arrayContaining([expect.objectContaining({ type: 'Established', status: 'True' })]),
      },
    });
  });

  test('describe no component that the cluster does not have', async () => {
    cluster = await listeningCluster({ without: ['cdi', 'multus', 'metrics'] });
    expect((await namesOf(CRDS)).filter((name) => /cdi|cni/.test(name))).toEqual([]);
    expect((await namesOf(SERVICES)).filter((name) => /cdi|cni|metrics/.test(name))).toEqual([]);
    expect(await namesOf('/api/v1/namespaces/cdi/pods')).toEqual([]);
  });

  test('take a kind away when they are deleted', async () => {
    cluster = await listeningCluster();
    cluster.simulation.seedVm({ name: 'web', status: 'Stopped' });
    expect((await cluster.call('DELETE', `${CRDS}/datasources.cdi.kubevirt.io`)).status).toBe(200);
    const gone = await cluster.call('GET', '/apis/cdi.kubevirt.io/v1beta1/datasources');
    expect(gone.text).toBe('404 page not found\n');
    expect((await cluster.call('GET', '/apis/cdi.kubevirt.io/v1beta1/datavolumes')).status).toBe(200);
  });
});

test("KubeVirt's and CDI's own pods run", async () => {
  cluster = await listeningCluster();
  const pods = [
    ...(await tableOf('/api/v1/namespaces/kubevirt/pods')),
    ...(await tableOf('/api/v1/namespaces/cdi/pods')),
  ];
  const prefixes = pods.map(({ Name }) => String(Name).replace(/(-[a-z0-9]{5})+$/, ''));
  const count = (name: string) => prefixes.filter((prefix) => prefix === name).length;
  expect(count('virt-api')).toBe(2);
  expect(count('virt-handler')).toBe(3);
  expect(count('cdi-deployment')).toBe(1);
  for (const pod of pods) expect(pod).toMatchObject({ Ready: '1/1', Status: 'Running' });
  expect(await namesOf('/apis/apps/v1/namespaces/kubevirt/daemonsets')).toEqual(['virt-handler']);
  expect(await namesOf('/apis/apps/v1/namespaces/kubevirt/deployments')).toContain('virt-api');
  expect(await namesOf('/apis/storage.k8s.io/v1/csidrivers')).toContain('topolvm.io');
  expect(await namesOf('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations')).toContain(
    'virt-api-validator',
  );
  cluster.clock.advance(600_000);
  expect(await tableOf('/api/v1/namespaces/kubevirt/pods')).toHaveLength(9);
});

describe('the pod of a VM', () => {
  const podOf = async (): Promise<Record<string, unknown>> => {
    const [pod] = await tableOf('/api/v1/namespaces/tailvm/pods?labelSelector=kubevirt.io=virt-launcher');
    return pod!;
  };

  test.each<[KubevirtVersion, string]>([
    ['1.5', 'containers'],
    ['1.6', 'initContainers'],
    ['1.9', 'initContainers'],
  ])('KubeVirt %s: is 2/2 with the log of its console in %s', async (kubevirtVersion, field) => {
    cluster = await listeningCluster({ kubevirtVersion });
    cluster.simulation.seedVm({ name: 'web' });
    expect(await podOf()).toMatchObject({ Ready: '2/2', Status: 'Running' });
    const { json } = await cluster.call('GET', '/api/v1/namespaces/tailvm/pods');
    const [pod] = json!['items'] as unknown as (KubeObject & { spec: Record<string, { name: string }[]> })[];
    expect(pod!.spec[field]!.map(({ name }) => name)).toContain('guest-console-log');
  });

  test('becomes 2/2 when the VM starts, also after a migration', async () => {
    cluster = await listeningCluster();
    const vm = buildVirtualMachine('web');
    vm.spec.template.spec.volumes = [{ name: 'root', emptyDisk: { capacity: '1Gi' } }];
    await cluster.call('POST', cluster.vms, vm);
    cluster.clock.advance(30_000);
    expect(await podOf()).toMatchObject({ Ready: '2/2', Status: 'Running' });
    await cluster.act('virtualmachines', 'web', 'migrate');
    cluster.clock.advance(60_000);
    expect(await podOf()).toMatchObject({ Ready: '2/2', Status: 'Running' });
  });

  test('accepts an ephemeral container, which then runs', async () => {
    cluster = await listeningCluster();
    cluster.simulation.seedContainer({ name: 'tools' });
    const [pod] = await tableOf('/api/v1/namespaces/tailvm/pods');
    const path = `/api/v1/namespaces/tailvm/pods/${String(pod!['Name'])}`;
    const patch = { spec: { ephemeralContainers: [{ name: 'debugger', image: 'busybox' }] } };
    const type = { 'Content-Type': 'application/strategic-merge-patch+json' };
    expect((await cluster.call('PATCH', `${path}/ephemeralcontainers`, patch, type)).status).toBe(200);
    cluster.clock.advance(5_000);
    expect((await cluster.call('GET', path)).json!['status']).toMatchObject({
      ephemeralContainerStatuses: [{ name: 'debugger', state: { running: {} } }],
    });
  });
});

describe('pods/portforward', () => {
  const dial = (query: string) => {
    cluster.simulation.seedContainer({ name: 'tools' });
    const name = cluster.sandbox.store.list('pods', { namespace: 'tailvm' })[0]!.metadata.name;
    return { path: `/api/v1/namespaces/tailvm/pods/${name}/portforward${query}` };
  };

  test('announces its channels and refuses the connection, as nothing listens', async () => {
    cluster = await listeningCluster();
    const client = cluster.dial(dial('?ports=8080').path, ['v4.channel.k8s.io']);
    await client.opened;
    await client.until((received) => received.length >= 6);
    expect(client.frames).toEqual([Buffer.from([0, 0x90, 0x1f]), Buffer.from([1, 0x90, 0x1f])]);
    client.send(Buffer.from([0, 0x47]));
    await client.untilText('connection refused');
    expect(client.frames.at(-1)![0]).toBe(1);
    expect(await client.closed).toBe(1000);
  });

  test.each(['', '?ports=0', '?ports=70000', '?ports=http'])('refuses the ports "%s"', async (query) => {
    cluster = await listeningCluster();
    const client = cluster.dial(dial(query).path, ['v4.channel.k8s.io']);
    await expect(client.opened).rejects.toThrow('400');
  });
});

test.each([
  ['exit 3', 'exit status 3'],
  ['false', 'exit status 1'],
  ['no-such-command', 'exit status 127'],
])('exec reports the exit code of "%s"', async (command, message) => {
  cluster = await listeningCluster();
  cluster.simulation.seedContainer({ name: 'tools' });
  const { name } = cluster.sandbox.store.list('pods', { namespace: 'tailvm' })[0]!.metadata;
  const query = new URLSearchParams([
    ['command', 'sh'],
    ['command', '-c'],
    ['command', command],
    ['stdout', 'true'],
  ]);
  const client = cluster.dial(`/api/v1/namespaces/tailvm/pods/${name}/exec?${query}`, ['v5.channel.k8s.io']);
  await client.untilText(message);
  expect(client.received.toString()).toContain('"reason":"NonZeroExitCode"');
});
