import { SystemClock, type JsonObject, type TwinReading } from '@headgate/domain-contracts';
import { KubeSandbox, type KubeObject } from '@headgate/kube-sandbox';
import { KubevirtSimulation } from '@headgate/kubevirt-sandbox';
import { KubeBackend, type KubeBackendOptions } from '../kube-backend.js';
import { RBAC_RULES } from '../rbac.js';

const NAMESPACE = 'tailvm';
const USER = 'reader';
const never = new AbortController().signal;
const READING: TwinReading = { maxObjects: 20_000, signal: never };
const KINDS = [
  'kubevirts.kubevirt.io',
  'cdis.cdi.kubevirt.io',
  'cdiconfigs.cdi.kubevirt.io',
  'nodes',
  'storageclasses.storage.k8s.io',
  'csistoragecapacities.storage.k8s.io',
  'volumesnapshotclasses.snapshot.storage.k8s.io',
  'network-attachment-definitions.k8s.cni.cncf.io',
  'virtualmachineclusterinstancetypes.instancetype.kubevirt.io',
  'virtualmachineclusterpreferences.instancetype.kubevirt.io',
  'virtualmachineinstancetypes.instancetype.kubevirt.io',
  'virtualmachinesnapshots.snapshot.kubevirt.io',
  'datavolumes.cdi.kubevirt.io',
  'persistentvolumeclaims',
  'virtualmachineinstancemigrations.kubevirt.io',
  'virtualmachines.kubevirt.io',
  'virtualmachineinstances.kubevirt.io',
  'pods',
];

/** The rules of the service, without some resources. */
const roleWithout = (...left: string[]): KubeObject =>
  ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'service' },
    rules: RBAC_RULES.map(({ resources, ...rule }) => ({
      ...rule,
      resources: resources.filter((resource) => !left.includes(resource)),
    })),
  }) as KubeObject;

describe('KubeTwinSource', () => {
  let sandbox: KubeSandbox;
  let simulation: KubevirtSimulation;
  let backend: KubeBackend | undefined;

  const open = async (role?: KubeObject, options: Partial<KubeBackendOptions> = {}): Promise<KubeBackend> => {
    simulation = new KubevirtSimulation({ timeScale: 0 });
    sandbox = await KubeSandbox.listen({ extensions: [simulation], ...(role && { rbac: { [USER]: ['service'] } }) });
    if (role) sandbox.store.create('clusterroles.rbac.authorization.k8s.io', role);
    simulation.seedVm({ name: 'web', namespace: NAMESPACE }, { name: 'off', namespace: NAMESPACE, status: 'Stopped' });
    backend = KubeBackend.open({
      context: 'lab',
      kubeconfig: { text: sandbox.kubeconfig(role && USER) },
      clock: new SystemClock(),
      ...options,
    });
    return backend;
  };
  const ofKind = (objects: readonly JsonObject[], kind: string): JsonObject[] =>
    objects.filter((object) => object['kind'] === kind);

  afterEach(async () => {
    await backend?.close();
    await sandbox.close();
  });

  test('sends only GET and LIST, reads no Secrets, and opens no watch', async () => {
    const source = (await open()).require('twin');
    sandbox.requests.reset();
    await source.read(READING);
    const single = 'get cdiconfigs.cdi.kubevirt.io';
    const lists = KINDS.filter((kind) => !single.endsWith(kind)).map((kind) => `list ${kind}`);
    // The backend itself asks for these when it is opened.
    const { 'get /apis': _apis, 'get /version': _version, ...sent } = sandbox.requests.summary();
    expect(Object.keys(sent).sort()).toEqual([...lists, single].sort());
  });

  test('returns each object with what a simulation needs', async () => {
    const { objects, version, hasNoNodes, notServed } = await (await open()).require('twin').read(READING);
    expect(version).toBe('v1.9.0');
    expect([hasNoNodes, notServed]).toEqual([false, []]);
    expect(ofKind(objects, 'VirtualMachine')).toHaveLength(2);
    const [vmi] = ofKind(objects, 'VirtualMachineInstance');
    expect(vmi).toMatchObject({
      apiVersion: 'kubevirt.io/v1',
      metadata: { name: 'web' },
      status: { phase: 'Running' },
    });
    expect(ofKind(objects, 'Node')).toHaveLength(3);
  });

  test('leaves out user data, passwords, the inside of pods and the bookkeeping of the cluster', async () => {
    const source = (await open()).require('twin');
    const key = { namespace: NAMESPACE, name: 'off' };
    sandbox.store.patch('virtualmachines.kubevirt.io', key, (draft) => {
      const { metadata, spec } = draft as unknown as {
        metadata: { annotations?: Record<string, string> };
        spec: { template: { spec: { volumes: object[] } } };
      };
      metadata.annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{"a":"hunter2"}', kept: 'yes' };
      spec.template.spec.volumes.push(
        { name: 'seed', cloudInitNoCloud: { userData: '#cloud-config\npassword: hunter2', networkData: 'hunter2' } },
        { name: 'named', cloudInitNoCloud: { secretRef: { name: 'secret-of-off' } } },
      );
    });
    sandbox.store.create('pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'app', namespace: NAMESPACE, annotations: { vault: 'hunter2' } },
      spec: {
        containers: [
          {
            name: 'main',
            image: 'app:1',
            env: [{ name: 'PASSWORD', value: 'hunter2' }],
            args: ['--password=hunter2'],
            resources: { requests: { cpu: '2' } },
          },
        ],
        volumes: [{ name: 'keys', secret: { secretName: 'keys' } }],
      },
      status: { containerStatuses: [{ name: 'main', state: { waiting: { reason: 'Error', message: 'hunter2' } } }] },
    } as KubeObject);
    sandbox.store.create('secrets', {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'secret-of-off', namespace: NAMESPACE },
      data: { userdata: 'aHVudGVyMg==' },
    } as KubeObject);
    const { objects } = await source.read(READING);
    const text = JSON.stringify(objects);
    expect(text).not.toContain('hunter2');
    expect(text).not.toContain('aHVudGVyMg');
    expect(text).not.toContain('managedFields');
    expect(text).toContain('secret-of-off');
    expect(text).toContain('"kept":"yes"');
    const pod = ofKind(objects, 'Pod').find(({ metadata }) => (metadata as JsonObject)['name'] === 'app');
    expect(pod).toMatchObject({
      spec: { containers: [{ name: 'main', resources: { requests: { cpu: '2' } } }], volumes: [{ name: 'keys' }] },
    });
  });

  test('leaves out pods that are over', async () => {
    const source = (await open()).require('twin');
    for (const phase of ['Succeeded', 'Failed', 'Running'])
      sandbox.store.create('pods', {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: `job-${phase.toLowerCase()}`, namespace: NAMESPACE },
        spec: { nodeName: 'node-a', containers: [] },
        status: { phase },
      } as KubeObject);
    const names = ofKind((await source.read(READING)).objects, 'Pod').map(
      ({ metadata }) => (metadata as JsonObject)['name'],
    );
    expect(names.filter((name) => String(name).startsWith('job-'))).toEqual(['job-running']);
  });

  test('says which kinds an account may not list, and that the nodes are missing', async () => {
    const source = (await open(roleWithout('nodes', 'csistoragecapacities'))).require('twin');
    const { gaps, hasNoNodes, objects } = await source.read(READING);
    expect(hasNoNodes).toBe(true);
    expect(gaps).toContain('Node objects were not read: the account of the service may not list them.');
    expect(gaps).toContain('CSIStorageCapacity objects were not read: the account of the service may not list them.');
    expect(ofKind(objects, 'Node')).toEqual([]);
    expect(ofKind(objects, 'VirtualMachine')).toHaveLength(2);
  });

  test('needs no permission beyond those of the service', async () => {
    const { gaps } = await (await open(roleWithout())).require('twin').read(READING);
    expect(gaps.filter((gap) => gap.includes('may not list'))).toEqual([]);
  });

  test('fails without the pods, which take the room on the nodes', async () => {
    const source = (await open(roleWithout('pods'))).require('twin');
    await expect(source.read(READING)).rejects.toMatchObject({ code: 'BACKEND_FORBIDDEN' });
  });

  test('reads only the namespaces of the configuration, and says so', async () => {
    const source = (await open(undefined, { namespaces: ['default'] })).require('twin');
    simulation.seedVm({ name: 'other', namespace: 'default' });
    const { objects, gaps } = await source.read(READING);
    expect(ofKind(objects, 'VirtualMachine')).toMatchObject([{ metadata: { name: 'other' } }]);
    expect(gaps).toContain('Only the namespaces default were read: the pods of others take no room.');
  });

  test('refuses a cluster with more objects than allowed, with a sentence', async () => {
    const source = (await open()).require('twin');
    await expect(source.read({ ...READING, maxObjects: 10 })).rejects.toMatchObject({
      code: 'NOT_SUPPORTED',
      message: 'lab has more than 10 objects, which are too many for a twin: rely on the plan alone.',
    });
  });

  test('ends the request that hangs when its signal is aborted', async () => {
    const source = (await open()).require('twin');
    const limit = new AbortController();
    sandbox.faults.delay({ resource: 'pods', verb: 'list' }, 800);
    const reading = source.read({ ...READING, signal: limit.signal });
    reading.catch(() => undefined);
    while (sandbox.requests.count({ verb: 'list', resource: 'pods' }) === 0)
      await new Promise((resolve) => setImmediate(resolve));
    limit.abort(new Error('too slow'));
    await expect(reading).rejects.toThrow('too slow');
  });
});
