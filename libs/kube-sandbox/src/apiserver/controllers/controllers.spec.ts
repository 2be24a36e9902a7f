import { KubeSandbox } from '../../kube-sandbox.js';
import { ApiClient } from '../../testing/api-client.js';
import { machine, machines, MACHINES, MACHINES_PATH, type Machine } from '../../testing/machine.js';
import { ManualClock } from '../clock.js';
import type { KubeObject } from '../kube-object.js';

const POD_SPEC = { containers: [{ name: 'c', image: 'x' }] };

describe('controllers of the API server', () => {
  let sandbox: KubeSandbox;
  let api: ApiClient;

  beforeEach(async () => {
    sandbox = await KubeSandbox.listen({ namespaces: ['lab'], clock: new ManualClock() });
    sandbox.registry.register(machines);
    api = new ApiClient(sandbox);
  });

  afterEach(() => sandbox.close());

  const owner = (object: KubeObject, fields: { blockOwnerDeletion?: boolean } = {}) => ({
    apiVersion: object.apiVersion,
    kind: object.kind,
    name: object.metadata.name,
    uid: object.metadata.uid!,
    ...fields,
  });
  const pod = (name: string, owners: KubeObject[], metadata: Partial<KubeObject['metadata']> = {}, fields = {}) =>
    sandbox.store.create('pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'lab', ownerReferences: owners.map((each) => owner(each, fields)), ...metadata },
      spec: POD_SPEC,
    });

  describe('GarbageCollector', () => {
    test('deletes all generations of dependents after their last owner', async () => {
      const a = sandbox.store.create(MACHINES, machine('a'));
      const b = sandbox.store.create(MACHINES, machine('b', {}, { ownerReferences: [owner(a)] }));
      pod('p', [b]);
      await api.delete(`${MACHINES_PATH}/a`);
      expect([sandbox.store.count(MACHINES), sandbox.store.count('pods')]).toEqual([0, 0]);
    });

    test('keeps an object with another owner and removes the reference to the deleted one', async () => {
      const [a, b] = [sandbox.store.create(MACHINES, machine('a')), sandbox.store.create(MACHINES, machine('b'))];
      pod('p', [a, b]);
      await api.delete(`${MACHINES_PATH}/a`);
      expect(sandbox.store.require('pods', { namespace: 'lab', name: 'p' }).metadata.ownerReferences).toMatchObject([
        { name: 'b' },
      ]);
    });

    test('orphans dependents on request', async () => {
      pod('p', [sandbox.store.create(MACHINES, machine('a'))]);
      await api.delete(`${MACHINES_PATH}/a`, { propagationPolicy: 'Orphan' });
      expect(sandbox.store.count(MACHINES)).toBe(0);
      expect(sandbox.store.require('pods', { namespace: 'lab', name: 'p' }).metadata.ownerReferences).toBeUndefined();
    });

    test('keeps an owner in foreground deletion until its blocking dependents are gone', async () => {
      pod(
        'p',
        [sandbox.store.create(MACHINES, machine('a'))],
        { finalizers: ['lab.dev/hold'] },
        { blockOwnerDeletion: true },
      );
      const { body } = await api.delete<Machine>(`${MACHINES_PATH}/a?propagationPolicy=Foreground`);
      expect(body.metadata.deletionTimestamp).toBeDefined();
      expect(sandbox.store.require('pods', { namespace: 'lab', name: 'p' }).metadata.deletionTimestamp).toBeDefined();
      expect(sandbox.store.count(MACHINES)).toBe(1);
      await api.patch('/api/v1/namespaces/lab/pods/p', { metadata: { finalizers: null } });
      expect([sandbox.store.count('pods'), sandbox.store.count(MACHINES)]).toEqual([0, 0]);
    });

    test('deletes an object whose owner never existed', () => {
      pod('p', [machine('ghost', {}, { uid: 'nowhere' })]);
      expect(sandbox.store.count('pods')).toBe(0);
    });
  });

  describe('NamespaceLifecycle', () => {
    test('creates the label and the service account of a new namespace', async () => {
      const { body } = await api.post<KubeObject>('/api/v1/namespaces', { metadata: { name: 'fresh' } });
      expect(body).toMatchObject({
        metadata: { labels: { 'kubernetes.io/metadata.name': 'fresh' } },
        status: { phase: 'Active' },
      });
      expect(sandbox.store.get('serviceaccounts', { namespace: 'fresh', name: 'default' })).toBeDefined();
    });

    test('ends a namespace whose last object is deleted late, although there are events about it', async () => {
      sandbox.store.create(MACHINES, machine('slow', {}, { finalizers: ['lab.dev/hold'] }));
      await api.delete('/api/v1/namespaces/lab');
      const slow = sandbox.store.require(MACHINES, { namespace: 'lab', name: 'slow' });
      const event = { type: 'Normal', reason: 'Stopping', message: 'It stops.', component: 'lab' } as const;
      sandbox.events.record(slow, event);
      expect(sandbox.store.count('events', 'lab')).toBe(0);
      await api.patch(`${MACHINES_PATH}/slow`, { metadata: { finalizers: null } });
      expect((await api.get('/api/v1/namespaces/lab')).code).toBe(404);
    });

    test('empties a terminating namespace and refuses new objects in it', async () => {
      sandbox.store.create(MACHINES, machine('a', {}, { finalizers: ['lab.dev/hold'] }));
      sandbox.store.create(MACHINES, machine('b'));
      const { body } = await api.delete<KubeObject>('/api/v1/namespaces/lab');
      expect(body.metadata.deletionTimestamp).toBeDefined();
      expect((await api.get('/api/v1/namespaces/lab')).body).toMatchObject({ status: { phase: 'Terminating' } });
      const refused = await api.post<{ message: string }>(MACHINES_PATH, machine('c'));
      expect([refused.code, refused.body.message]).toEqual([
        403,
        'machines.lab.dev "c" is forbidden: unable to create new content in namespace lab because it is being terminated',
      ]);
      expect(sandbox.store.list(MACHINES).map(({ metadata }) => metadata.name)).toEqual(['a']);
      await api.patch(`${MACHINES_PATH}/a`, { metadata: { finalizers: null } });
      expect((await api.get('/api/v1/namespaces/lab')).code).toBe(404);
    });
  });

  describe('CustomResourceDefinitions', () => {
    const crd = (size: object) => ({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'gadgets.lab.dev' },
      spec: {
        group: 'lab.dev',
        scope: 'Cluster',
        names: { plural: 'gadgets', kind: 'Gadget' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { size } } } },
            },
          },
        ],
      },
    });
    const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const GADGETS = '/apis/lab.dev/v1/gadgets';
    const gadget = (size: unknown) => ({
      apiVersion: 'lab.dev/v1',
      kind: 'Gadget',
      metadata: { name: 'g' },
      spec: { size, extra: 1 },
    });

    test('serve a resource as soon as it is defined, with its schema', async () => {
      expect((await api.get(GADGETS)).text).toBe('404 page not found\n');
      const { code } = await api.post(CRDS, crd({ type: 'integer', default: 3 }));
      expect(code).toBe(201);
      expect((await api.get(`${CRDS}/gadgets.lab.dev`)).body).toMatchObject({
        status: { acceptedNames: { kind: 'Gadget' }, storedVersions: ['v1'] },
      });
      expect((await api.post(GADGETS, gadget('big'))).code).toBe(422);
      expect((await api.post(GADGETS, gadget(undefined))).body).toMatchObject({ spec: { size: 3 } });
    });

    test('apply a changed schema', async () => {
      const { body } = await api.post<KubeObject>(CRDS, crd({ type: 'integer' }));
      expect((await api.post(GADGETS, gadget('big'))).code).toBe(422);
      const current = (await api.get<KubeObject>(`${CRDS}/${body.metadata.name}`)).body;
      await api.put(`${CRDS}/gadgets.lab.dev`, { ...current, spec: crd({ type: 'string' }).spec });
      expect((await api.post(GADGETS, gadget('big'))).code).toBe(201);
    });

    test('delete their objects with them', async () => {
      await api.post(CRDS, crd({ type: 'integer' }));
      await api.post(GADGETS, gadget(1));
      await api.delete(`${CRDS}/gadgets.lab.dev`);
      expect((await api.get(GADGETS)).text).toBe('404 page not found\n');
      expect(sandbox.store.count('gadgets.lab.dev')).toBe(0);
    });
  });
});
