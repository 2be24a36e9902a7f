import { KubeSandbox } from '../../kube-sandbox.js';
import { ApiClient } from '../../testing/api-client.js';
import { machine, machines, MACHINES, MACHINES_PATH, type Machine } from '../../testing/machine.js';
import { denied } from '../admission.js';
import { ManualClock } from '../clock.js';

interface Status {
  message: string;
  reason?: string;
  details?: { causes?: { field?: string }[] };
}

const POD = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p' },
  spec: { containers: [{ name: 'c', image: 'x:1' }] },
};

describe('writing over HTTP', () => {
  let sandbox: KubeSandbox;
  let api: ApiClient;

  beforeEach(async () => {
    sandbox = await KubeSandbox.listen({ namespaces: ['lab'], clock: new ManualClock() });
    sandbox.registry.register(machines);
    api = new ApiClient(sandbox);
  });

  afterEach(() => sandbox.close());

  const create = (name: string, spec: Partial<Machine['spec']> = {}) =>
    api.post<Machine>(MACHINES_PATH, machine(name, spec));
  const stored = (name: string) => sandbox.store.require<Machine>(MACHINES, { namespace: 'lab', name });

  describe('POST', () => {
    test('creates with defaults and drops the status', async () => {
      const { code, body } = await api.post<Machine>(MACHINES_PATH, { ...machine('a'), status: { phase: 'Up' } });
      expect([code, body.spec, body.status]).toEqual([201, { size: 1, mode: 'auto' }, undefined]);
    });

    test('reports an existing object', async () => {
      await create('a');
      expect(await create('a')).toMatchObject({
        code: 409,
        body: { reason: 'AlreadyExists', message: 'machines.lab.dev "a" already exists' },
      });
    });

    test('does not create namespaces on demand', async () => {
      const { code, body } = await api.post<Status>('/apis/lab.dev/v1/namespaces/none/machines', {
        ...machine('a'),
        metadata: { name: 'a' },
      });
      expect([code, body.message]).toEqual([404, 'namespaces "none" not found']);
    });

    test('completes a generated name', async () => {
      const { body } = await api.post<Machine>(MACHINES_PATH, { ...machine(''), metadata: { generateName: 'web-' } });
      expect(body.metadata.name).toMatch(/^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    });

    test('commits nothing with dryRun=All', async () => {
      expect((await api.post(`${MACHINES_PATH}?dryRun=All`, machine('a'))).code).toBe(201);
      expect(sandbox.store.count(MACHINES)).toBe(0);
    });

    test.each([
      [
        machine('A'),
        'Machine.lab.dev "A" is invalid: metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain must',
      ],
      [
        machine('a', { size: 0 }),
        'Machine.lab.dev "a" is invalid: spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1',
      ],
      [
        machine('a', { size: 'x' as unknown as number }),
        'spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"',
      ],
      [
        machine('a', {}, { labels: { '-x': 'y' } }),
        'metadata.labels: Invalid value: "-x": name part must consist of alphanumeric characters',
      ],
    ])('refuses schema violations', async (body, message) => {
      const answer = await api.post<Status>(MACHINES_PATH, body);
      expect([answer.code, answer.body.reason]).toEqual([422, 'Invalid']);
      expect(answer.body.message).toContain(message);
    });

    test.each([
      [
        { ...machine('a'), apiVersion: 'lab.dev/v9' },
        'the API version in the data (lab.dev/v9) does not match the expected API version (lab.dev/v1)',
      ],
      [
        { ...machine('a', {}, { namespace: 'other' }) },
        'the namespace of the provided object does not match the namespace sent on the request',
      ],
      [{ ...machine('a', {}, { resourceVersion: '1' }) }, 'resourceVersion should not be set on objects to be created'],
    ])('refuses mismatches with the URL', async (body, message) => {
      const answer = await api.post<Status>(MACHINES_PATH, body);
      expect(answer.code).toBe(400);
      expect(answer.body.message).toContain(message);
    });

    test('refuses another kind of the same version as an invalid field', async () => {
      const { code, body } = await api.post<Status>(MACHINES_PATH, { ...machine('a'), kind: 'Gadget' });
      expect([code, body.message]).toEqual([
        422,
        'Machine.lab.dev "a" is invalid: kind: Invalid value: "Gadget": must be Machine',
      ]);
    });

    test.each([
      [
        { apiVersion: 'v1', kind: 'Secret' },
        'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
      ],
      [
        { apiVersion: 'lab.dev/v1', kind: 'Machine' },
        'Machine in version "v1" cannot be handled as a ConfigMap: no kind "Machine" is registered for version "lab.dev/v1" in scheme "pkg/api/legacyscheme/scheme.go:30"',
      ],
    ])('refuses %j as another built-in kind', async (kind, message) => {
      const { code, body } = await api.post<Status>('/api/v1/namespaces/lab/configmaps', { ...kind, metadata: {} });
      expect([code, body.message]).toEqual([400, message]);
    });

    test.each([
      ['/api/v1/namespaces/lab/configmaps', ', application/vnd.kubernetes.protobuf'],
      [MACHINES_PATH, ''],
    ])('accepts JSON and YAML at %s%s', async (path, more) => {
      const { code, body } = await api.post<Status>(path, {}, { 'Content-Type': 'text/plain' });
      expect([code, body.message]).toEqual([
        415,
        `the body of the request was in an unknown format - accepted media types include: application/json, application/yaml${more}`,
      ]);
    });

    test('prunes unknown fields and warns, refuses or ignores them according to fieldValidation', async () => {
      const odd = (name: string) => ({ ...machine(name), spec: { size: 1, color: 'red' } });
      const warned = await api.post<Machine>(MACHINES_PATH, odd('a'));
      expect([warned.body.spec, warned.headers.get('warning')]).toEqual([
        { size: 1, mode: 'auto' },
        '299 - "unknown field \\"spec.color\\""',
      ]);
      const ignored = await api.post(`${MACHINES_PATH}?fieldValidation=Ignore`, odd('b'));
      expect(ignored.headers.get('warning')).toBeNull();
      const strict = await api.post<Status>(`${MACHINES_PATH}?fieldValidation=Strict`, odd('c'));
      expect([strict.code, strict.body.message]).toEqual([
        400,
        'Machine in version "v1" cannot be handled as a Machine: strict decoding error: unknown field "spec.color"',
      ]);
    });

    test('runs admission in order: mutating hooks, schema, validating hooks', async () => {
      const order: string[] = [];
      sandbox.admission.addMutating<Machine>({
        name: 'm',
        resources: [MACHINES],
        operations: ['CREATE'],
        admit: ({ object }) => {
          order.push(`mutate ${object.spec.size}`);
          object.spec.size = 7;
        },
      });
      sandbox.admission.addValidating<Machine>({
        name: 'v.lab.dev',
        resources: [MACHINES],
        operations: ['CREATE'],
        admit: ({ object, user }) => {
          order.push(`validate ${object.spec.size} by ${user.username}`);
          if (object.metadata.name === 'bad') throw denied('v.lab.dev', { message: 'it is bad' });
        },
      });
      expect((await create('a')).body.spec.size).toBe(7);
      expect(order).toEqual(['mutate 1', 'validate 7 by kubernetes-admin']);
      expect(await create('bad')).toMatchObject({
        code: 400,
        body: { message: 'admission webhook "v.lab.dev" denied the request: it is bad' },
      });
      expect(sandbox.store.count(MACHINES)).toBe(1);
    });

    test('reports a wrong type in a built-in kind as a decoding error', async () => {
      const { code, body } = await api.post<Status>('/api/v1/namespaces/lab/pods', {
        ...POD,
        spec: { containers: 'none' },
      });
      expect(code).toBe(400);
      expect(body.message).toContain(
        'Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal string into Go struct field',
      );
    });
  });

  describe('options', () => {
    test.each([
      ['POST', '', 'dryRun=Some', 'CreateOptions', 'dryRun: Unsupported value: ["Some"]: supported values: "All"'],
      [
        'PUT',
        '/a',
        'fieldValidation=Loose',
        'UpdateOptions',
        'fieldValidation: Unsupported value: "Loose": supported values: "", "Ignore", "Strict", "Warn"',
      ],
      ['PATCH', '/a', 'dryRun=Some', 'PatchOptions', 'dryRun: Unsupported value: ["Some"]: supported values: "All"'],
      ['DELETE', '/a', 'dryRun=Some', 'DeleteOptions', 'dryRun: Unsupported value: ["Some"]: supported values: "All"'],
      [
        'DELETE',
        '/a',
        'propagationPolicy=Sideways',
        'DeleteOptions',
        'propagationPolicy: Unsupported value: "Sideways": supported values: "Foreground", "Background", "Orphan", "nil"',
      ],
    ])('%s%s?%s returns 422 with details', async (method, name, query, kind, problem) => {
      sandbox.store.load([machine('a')]);
      const response = await fetch(`${sandbox.url}${MACHINES_PATH}${name}?${query}`, {
        method,
        headers: { 'Content-Type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' },
        ...(method === 'DELETE' ? {} : { body: JSON.stringify(machine('a')) }),
      });
      expect(response.status).toBe(422);
      const [field] = problem.split(':');
      expect(await response.json()).toMatchObject({
        reason: 'Invalid',
        message: `${kind}.meta.k8s.io "" is invalid: ${problem}`,
        details: {
          group: 'meta.k8s.io',
          kind,
          causes: [{ reason: 'FieldValueNotSupported', message: problem.slice(field!.length + 2), field }],
        },
      });
    });

    test.each(['put', 'patch'] as const)('%s of a collection returns 405', async (method) => {
      expect(await api[method](MACHINES_PATH, machine('a'))).toMatchObject({
        code: 405,
        body: { reason: 'MethodNotAllowed' },
      });
    });
  });

  describe('PUT', () => {
    test('requires the current resourceVersion of a custom resource', async () => {
      const { body } = await create('a');
      const blind = await api.put<Status>(`${MACHINES_PATH}/a`, machine('a', { size: 2 }));
      expect([blind.code, blind.body.message]).toEqual([
        422,
        'Machine.lab.dev "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
      ]);
      expect((await api.put(`${MACHINES_PATH}/a`, { ...body, spec: { size: 2 } })).code).toBe(200);
      expect(await api.put(`${MACHINES_PATH}/a`, { ...body, spec: { size: 3 } })).toMatchObject({
        code: 409,
        body: { reason: 'Conflict' },
      });
    });

    test('writes spec and status through separate endpoints', async () => {
      await create('a');
      sandbox.store.patch<Machine>(
        MACHINES,
        { namespace: 'lab', name: 'a' },
        (draft) => void (draft.status = { phase: 'Up' }),
      );
      await api.put(`${MACHINES_PATH}/a`, { ...stored('a'), spec: { size: 5 }, status: { phase: 'Lost' } });
      expect([stored('a').spec.size, stored('a').status]).toEqual([5, { phase: 'Up' }]);
      await api.put(`${MACHINES_PATH}/a/status`, { ...stored('a'), spec: { size: 9 }, status: { phase: 'Down' } });
      expect([stored('a').spec.size, stored('a').status, stored('a').metadata.generation]).toEqual([
        5,
        { phase: 'Down' },
        2,
      ]);
    });
  });

  describe('PATCH', () => {
    test('checks a resourceVersion in the patch', async () => {
      const { body } = await create('a');
      await api.patch(`${MACHINES_PATH}/a`, { spec: { size: 2 } });
      const late = await api.patch(`${MACHINES_PATH}/a`, {
        metadata: { resourceVersion: body.metadata.resourceVersion },
        spec: { size: 3 },
      });
      expect(late.code).toBe(409);
    });

    const CONFIG_MAPS = '/api/v1/namespaces/lab/configmaps';
    test.each([
      ['merge', { data: { d: 1 } }, '{"apiVersion":"v1","data":{"d":1},"kind":"ConfigMap"'],
      ['json', [{ op: 'add', path: '/data', value: { d: 1 } }], '{"apiVersion":"v1","data":{"d":1},"kind":"ConfigMap"'],
      ['strategic-merge', { data: { d: 1 } }, 'map[data:map[d:1]]'],
    ])('returns 422 when a %s patch leaves a built-in object that has the wrong type', async (type, patch, value) => {
      await api.post(CONFIG_MAPS, { metadata: { name: 'settings' } });
      const { code, body } = await api.patch<Status>(`${CONFIG_MAPS}/settings`, patch, type);
      expect([code, body.reason]).toEqual([422, 'Invalid']);
      expect(body.message).toContain(` "" is invalid: patch: Invalid value: ${JSON.stringify(value).slice(0, -1)}`);
      expect(body.message).toContain(
        'json: cannot unmarshal number into Go struct field ConfigMap.data.d of type string',
      );
      expect(body.details).toEqual({ causes: [expect.objectContaining({ field: 'patch' })] });
    });

    test.each(['merge', 'json'])('drops the labels when a %s patch removes the last one', async (type) => {
      await api.post(MACHINES_PATH, machine('a', {}, { labels: { x: 'y' }, finalizers: [] }));
      const patch =
        type === 'json' ? [{ op: 'remove', path: '/metadata/labels/x' }] : { metadata: { labels: { x: null } } };
      const { code, body } = await api.patch<Machine>(`${MACHINES_PATH}/a`, patch, type);
      expect([code, Object.keys(body.metadata)]).toEqual([200, expect.not.arrayContaining(['labels', 'finalizers'])]);
      const late = await api.patch(
        `${MACHINES_PATH}/a`,
        [{ op: 'add', path: '/metadata/labels/x', value: 'y' }],
        'json',
      );
      expect(late.code).toBe(422);
    });

    test('refuses a strategic merge patch of a custom resource', async () => {
      await create('a');
      const { code, body } = await api.patch<Status>(`${MACHINES_PATH}/a`, { spec: { size: 2 } }, 'strategic-merge');
      expect(code).toBe(415);
      expect(body.message).toBe(
        'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
      );
    });

    test('returns 422 when a JSON patch cannot be applied', async () => {
      await create('a');
      const { code, body } = await api.patch<Status>(
        `${MACHINES_PATH}/a`,
        [{ op: 'test', path: '/spec/size', value: 9 }],
        'json',
      );
      expect([code, body.reason, body.message]).toEqual([
        422,
        'Invalid',
        'the server rejected our request due to an error in our request',
      ]);
    });

    test('creates an object by server-side apply, and refuses an apply without a manager', async () => {
      const path = `${MACHINES_PATH}/a`;
      expect((await api.patch(path, machine('a'), 'apply')).code).toBe(422);
      expect((await api.patch(`${path}?fieldManager=me`, machine('a'), 'apply')).code).toBe(201);
      expect((await api.patch(`${path}?fieldManager=me`, machine('a', { size: 2 }), 'apply')).code).toBe(200);
      await api.patch(`${path}?fieldManager=editor`, { spec: { size: 3 } });
      const refused = await api.patch<Status>(`${path}?fieldManager=me`, machine('a', { size: 4 }), 'apply');
      expect([refused.code, refused.body.details?.causes]).toEqual([
        409,
        [
          {
            reason: 'FieldManagerConflict',
            message: 'conflict with "editor" using lab.dev/v1 at 2026-01-01T00:00:00Z',
            field: '.spec.size',
          },
        ],
      ]);
      expect((await api.patch(`${path}?fieldManager=me&force=true`, machine('a', { size: 4 }), 'apply')).code).toBe(
        200,
      );
    });

    test('refuses changes of immutable pod fields', async () => {
      await api.post('/api/v1/namespaces/lab/pods', POD);
      const change = (spec: object) => api.patch<Status>('/api/v1/namespaces/lab/pods/p', { spec }, 'strategic-merge');
      expect((await change({ containers: [{ name: 'c', image: 'x:2' }] })).code).toBe(200);
      const refused = await change({ hostname: 'other' });
      expect(refused.code).toBe(422);
      expect(refused.body.message).toMatch(
        /^Pod "p" is invalid: spec: Forbidden: pod updates may not change fields other than/,
      );
    });
  });

  describe('DELETE', () => {
    test('returns a Status after removal and the object while its removal is deferred', async () => {
      const { body } = await create('a');
      expect((await api.delete(`${MACHINES_PATH}/a`)).body).toEqual({
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Success',
        details: { name: 'a', group: 'lab.dev', kind: 'machines', uid: body.metadata.uid },
      });
      await api.post(MACHINES_PATH, machine('b', {}, { finalizers: ['lab.dev/hold'] }));
      const held = await api.delete<Machine>(`${MACHINES_PATH}/b`);
      expect([held.code, held.body.metadata.deletionTimestamp, held.body.metadata.generation]).toEqual([
        200,
        '2026-01-01T00:00:00Z',
        2,
      ]);
      const added = await api.patch<Status>(`${MACHINES_PATH}/b`, {
        metadata: { finalizers: ['lab.dev/hold', 'lab.dev/new'] },
      });
      expect(added.body.message).toContain(
        'no new finalizers can be added if the object is being deleted, found new finalizers []string{"lab.dev/new"}',
      );
      await api.patch(`${MACHINES_PATH}/b`, { metadata: { finalizers: null } });
      expect(sandbox.store.count(MACHINES)).toBe(0);
    });

    test('checks preconditions', async () => {
      await create('a');
      expect((await api.delete(`${MACHINES_PATH}/a`, { preconditions: { uid: 'other' } })).code).toBe(409);
      expect(sandbox.store.count(MACHINES)).toBe(1);
    });

    test('deletes the selected objects of a collection', async () => {
      for (const name of ['a', 'b', 'c'])
        await api.post(MACHINES_PATH, machine(name, {}, { labels: { end: String(name !== 'b') } }));
      await api.delete(`${MACHINES_PATH}?labelSelector=end%3Dtrue`);
      expect(sandbox.store.list(MACHINES).map(({ metadata }) => metadata.name)).toEqual(['b']);
    });

    test('keeps a scheduled pod for its grace period and returns 409 for a new pod of that name', async () => {
      await api.post('/api/v1/namespaces/lab/pods', { ...POD, spec: { ...POD.spec, nodeName: 'n1' } });
      const { body } = await api.delete<Machine>('/api/v1/namespaces/lab/pods/p');
      expect(body.metadata).toMatchObject({
        deletionTimestamp: '2026-01-01T00:00:30Z',
        deletionGracePeriodSeconds: 30,
      });
      const again = await api.post<Status>('/api/v1/namespaces/lab/pods', POD);
      expect([again.code, again.body.message]).toEqual([409, 'object is being deleted: pods "p" already exists']);
      await api.delete('/api/v1/namespaces/lab/pods/p?gracePeriodSeconds=0');
      expect(sandbox.store.count('pods')).toBe(0);
    });
  });

  describe('built-in kinds', () => {
    test('convert the stringData of a Secret to data', async () => {
      const { body } = await api.post('/api/v1/namespaces/lab/secrets', {
        metadata: { name: 's' },
        stringData: { a: 'b' },
      });
      expect(body).toMatchObject({ type: 'Opaque', data: { a: 'Yg==' } });
      expect(body['stringData']).toBeUndefined();
    });

    test('refuse to resize an unbound claim and to change any other field', async () => {
      const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
      await api.post('/api/v1/namespaces/lab/persistentvolumeclaims', { metadata: { name: 'c' }, spec });
      const grow = () =>
        api.patch<Status>('/api/v1/namespaces/lab/persistentvolumeclaims/c', {
          spec: { resources: { requests: { storage: '2Gi' } } },
        });
      expect((await grow()).body).toMatchObject({
        code: 403,
        reason: 'Forbidden',
        message: 'persistentvolumeclaims "c" is forbidden: Only bound persistent volume claims can be expanded',
      });
      await api.patch('/api/v1/namespaces/lab/persistentvolumeclaims/c/status', { status: { phase: 'Bound' } });
      expect((await grow()).code).toBe(200);
      const moved = await api.patch<Status>('/api/v1/namespaces/lab/persistentvolumeclaims/c', {
        spec: { accessModes: ['ReadWriteMany'] },
      });
      expect([moved.code, moved.body.message]).toEqual([
        422,
        expect.stringContaining('spec: Forbidden: spec is immutable after creation except resources.requests'),
      ]);
    });
  });
});
