import { KubeSandbox } from '../../kube-sandbox.js';
import { ApiClient } from '../../testing/api-client.js';
import { machine, machines, MACHINES, MACHINES_PATH, type Machine } from '../../testing/machine.js';
import { ManualClock } from '../clock.js';

interface List {
  metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number };
  items: (Machine & { metadata: { name: string } })[];
}

describe('reading over HTTP', () => {
  let sandbox: KubeSandbox;
  let clock: ManualClock;
  let api: ApiClient;

  beforeEach(async () => {
    clock = new ManualClock();
    sandbox = await KubeSandbox.listen({ namespaces: ['lab', 'other'], clock, historyLimit: 1000 });
    sandbox.registry.register(machines);
    api = new ApiClient(sandbox);
  });

  afterEach(() => sandbox.close());

  const names = ({ items }: List) => items.map(({ metadata }) => metadata.name);
  const grow = (name: string, size: number) =>
    sandbox.store.patch<Machine>(MACHINES, { namespace: 'lab', name }, ({ spec }) => void (spec.size = size));

  describe('GET of a path', () => {
    test.each(['/healthz', '/readyz', '/livez'])('%s returns ok', async (path) => {
      expect(await api.get(path)).toMatchObject({ code: 200, text: 'ok' });
    });

    test.each([
      '/apis/nowhere.dev/v1',
      '/apis/lab.dev/v1/namespaces/lab/gadgets',
      '/apis/lab.dev/v9/machines',
      '/nothing',
      '/apis/lab.dev/v1/namespaces/lab/machines/a/spin',
    ])('responds to %s, which is not served, with plain text', async (path) => {
      const { code, text, headers } = await api.get(path);
      expect([code, text, headers.get('content-type')]).toEqual([
        404,
        '404 page not found\n',
        'text/plain; charset=utf-8',
      ]);
    });

    test.each(['/api/v1/namespaces/lab/nothings', '/apis/apps/v1/nothings', '/api/v1/namespaces/lab/pods/a/spin'])(
      'responds to %s, below a built-in version, with a Status',
      async (path) => {
        expect(await api.get(path)).toMatchObject({
          code: 404,
          body: { reason: 'NotFound', message: 'the server could not find the requested resource', details: {} },
        });
      },
    );

    test('lists groups, versions and resources', async () => {
      const { body: groups } = await api.get<{ groups: { name: string; preferredVersion: object }[] }>('/apis');
      expect(groups.groups.find(({ name }) => name === 'lab.dev')?.preferredVersion).toEqual({
        groupVersion: 'lab.dev/v1',
        version: 'v1',
      });
      const { body: list } = await api.get<{ resources: { name: string }[] }>('/apis/lab.dev/v1');
      expect(list.resources).toMatchObject([
        { name: 'machines', singularName: 'machine', kind: 'Machine', namespaced: true, shortNames: ['mc'] },
        { name: 'machines/status' },
      ]);
    });

    test('serves the aggregated discovery document', async () => {
      const type = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
      const { body, headers } = await api.get<{
        items: { metadata: { name: string }; versions: { resources: object[] }[] }[];
      }>('/apis', { Accept: `${type},application/json` });
      expect(headers.get('content-type')).toBe(type);
      expect(body.items.find(({ metadata }) => metadata.name === 'lab.dev')?.versions[0]?.resources).toMatchObject([
        {
          resource: 'machines',
          scope: 'Namespaced',
          responseKind: { kind: 'Machine' },
          subresources: [{ subresource: 'status' }],
        },
      ]);
    });

    test('describes every group and version in OpenAPI v3', async () => {
      const { body: index } = await api.get<{ paths: Record<string, { serverRelativeURL: string }> }>('/openapi/v3');
      const { body } = await api.get<{ components: { schemas: Record<string, object> } }>(
        index.paths['apis/lab.dev/v1']!.serverRelativeURL,
      );
      expect(body.components.schemas['dev.lab.v1.Machine']).toMatchObject({
        properties: { spec: { properties: { size: { type: 'integer' } } } },
      });
    });
  });

  describe('GET of an object', () => {
    test('returns a Status when it is absent', async () => {
      expect((await api.get(`${MACHINES_PATH}/z`)).body).toEqual({
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: 'machines.lab.dev "z" not found',
        reason: 'NotFound',
        details: { name: 'z', group: 'lab.dev', kind: 'machines' },
        code: 404,
      });
    });

    test('warns of a deprecated version and responds in it', async () => {
      sandbox.store.create(MACHINES, machine('a'));
      const { body, headers } = await api.get('/apis/lab.dev/v1alpha1/namespaces/lab/machines/a');
      expect([body['apiVersion'], headers.get('warning')]).toEqual([
        'lab.dev/v1alpha1',
        '299 - "lab.dev/v1alpha1 Machine is deprecated"',
      ]);
    });

    test('returns a table row on request', async () => {
      sandbox.store.create(MACHINES, machine('a', { size: 4 }));
      const { body } = await api.get<{
        columnDefinitions: { name: string }[];
        rows: { cells: unknown[]; object: { kind: string } }[];
      }>(`${MACHINES_PATH}/a`, {
        Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
      });
      expect(body.columnDefinitions.map(({ name }) => name)).toEqual(['Name', 'Size']);
      expect(body.rows).toMatchObject([{ cells: ['a', 4], object: { kind: 'PartialObjectMetadata' } }]);
    });

    test('serves events in both of their groups', async () => {
      const about = sandbox.store.create(MACHINES, machine('a'));
      sandbox.events.record(about, { type: 'Warning', reason: 'Rusty', message: 'it squeaks', component: 'oiler' });
      const selector = (field: string) => `/namespaces/lab/events?fieldSelector=${field}.kind=Machine,${field}.name=a`;
      const old = await api.get<{ items: object[] }>(`/api/v1${selector('involvedObject')}`);
      const young = await api.get<{ items: object[] }>(`/apis/events.k8s.io/v1${selector('regarding')}`);
      expect(old.body.items).toMatchObject([
        { message: 'it squeaks', involvedObject: { name: 'a' }, source: { component: 'oiler' } },
      ]);
      expect(young.body.items).toMatchObject([
        { note: 'it squeaks', regarding: { name: 'a' }, deprecatedSource: { component: 'oiler' } },
      ]);
    });
  });

  describe('GET of a collection', () => {
    beforeEach(() =>
      sandbox.store.load(
        ['a', 'b', 'c', 'd', 'e'].map((name) => machine(name, {}, { labels: { vowel: String('ae'.includes(name)) } })),
      ),
    );

    test('returns pages that all have the revision of the first', async () => {
      const first = (await api.get<List>(`${MACHINES_PATH}?limit=2`)).body;
      expect(first.metadata.remainingItemCount).toBe(3);
      sandbox.store.delete(MACHINES, { namespace: 'lab', name: 'c' });
      sandbox.store.create(MACHINES, machine('ab'));
      const second = (await api.get<List>(`${MACHINES_PATH}?limit=2&continue=${first.metadata.continue}`)).body;
      const third = (await api.get<List>(`${MACHINES_PATH}?limit=2&continue=${second.metadata.continue}`)).body;
      expect([first, second, third].map(names)).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
      expect(new Set([first, second, third].map(({ metadata }) => metadata.resourceVersion)).size).toBe(1);
      expect(third.metadata.continue).toBeUndefined();
    });

    test('returns 410 for a page whose revision has been compacted', async () => {
      const { body } = await api.get<List>(`${MACHINES_PATH}?limit=2`);
      sandbox.store.create(MACHINES, machine('f'));
      sandbox.faults.expireHistory();
      const late = await api.get<{ reason: string; message: string }>(
        `${MACHINES_PATH}?limit=2&continue=${body.metadata.continue}`,
      );
      expect([late.code, late.body.reason]).toEqual([410, 'Expired']);
      expect(late.body.message).toMatch(
        /^The provided continue parameter is too old to display a consistent list result\./,
      );
    });

    test('selects by labels and fields', async () => {
      expect(names((await api.get<List>(`${MACHINES_PATH}?labelSelector=vowel%3Dtrue`)).body)).toEqual(['a', 'e']);
      expect(names((await api.get<List>(`${MACHINES_PATH}?fieldSelector=metadata.name%3Db`)).body)).toEqual(['b']);
      const { code, body } = await api.get(`${MACHINES_PATH}?fieldSelector=spec.size%3D1`);
      expect([code, body['message']]).toEqual([400, 'field label not supported: spec.size']);
    });

    test.each([
      [
        'configmaps?fieldSelector=spec.x=1',
        '"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
      ],
      ['pods?fieldSelector=spec.x=1', 'field label not supported: spec.x'],
      ['pods?fieldSelector=constructor=1', 'field label not supported: constructor'],
      [
        'pods?resourceVersion=x',
        'invalid resource version: resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax',
      ],
    ])('refuses the options of %s', async (path, message) => {
      const { code, body } = await api.get(`/api/v1/namespaces/lab/${path}`);
      expect([code, body['message']]).toEqual([400, message]);
    });

    const encoded = (token: unknown) => Buffer.from(JSON.stringify(token)).toString('base64url');
    test.each([
      ['nonsense', ": invalid character '\\u009e' looking for beginning of value"],
      ['a$b', ': illegal base64 data at input byte 1'],
      ['abcde', ': illegal base64 data at input byte 5'],
      [Buffer.from('?').toString('base64url'), ": invalid character '?' looking for beginning of value"],
      [Buffer.from('{').toString('base64url'), ': unexpected end of JSON input'],
      [encoded([]), ': json: cannot unmarshal array into Go value of type storage.continueToken'],
      [encoded({}), ': server does not recognize this encoded version '],
      [
        encoded({ v: 'meta.k8s.io/v1', start: 'x' }),
        ': incorrect encoded start resourceVersion (version meta.k8s.io/v1)',
      ],
      [encoded({ v: 'meta.k8s.io/v1', rv: 1 }), ': encoded start key empty (version meta.k8s.io/v1)'],
      [encoded({ v: 'meta.k8s.io/v1', rv: 1, start: '../x' }), ': ../x'],
    ])('refuses the continue token %s', async (token, why) => {
      const { code, body } = await api.get(`${MACHINES_PATH}?continue=${encodeURIComponent(token)}`);
      expect([code, body['message']]).toEqual([400, `invalid continue token: continue key is not valid${why}`]);
    });

    test('returns a past revision with resourceVersionMatch=Exact', async () => {
      const { resourceVersion } = (await api.get<List>(MACHINES_PATH)).body.metadata;
      sandbox.store.delete(MACHINES, { namespace: 'lab', name: 'a' });
      const past = await api.get<List>(
        `${MACHINES_PATH}?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`,
      );
      expect(names(past.body)).toEqual(['a', 'b', 'c', 'd', 'e']);
    });

    /** Waits until the server waits for a revision. */
    const untilWaiting = async (): Promise<void> => {
      while (clock.untilNext() !== 3_000) await new Promise((resolve) => setImmediate(resolve));
    };

    test.each([`${MACHINES_PATH}?resourceVersionMatch=NotOlderThan&`, `${MACHINES_PATH}/a?`])(
      'waits for a future revision and returns 504 after three seconds: %s',
      async (path) => {
        const current = sandbox.store.revision;
        const request = api.get<{ message: string; details: object }>(`${path}resourceVersion=999999`);
        await untilWaiting();
        clock.advance(3_000);
        const { code, body, headers } = await request;
        expect(code).toBe(504);
        expect(body.message).toBe(`Timeout: Too large resource version: 999999, current: ${current}`);
        expect(body.details).toEqual({
          causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
          retryAfterSeconds: 1,
        });
        expect(headers.get('retry-after')).toBe('1');
      },
    );

    test('returns the list as soon as a future revision is reached', async () => {
      const next = sandbox.store.revision + 1;
      const request = api.get<List>(`${MACHINES_PATH}?resourceVersionMatch=NotOlderThan&resourceVersion=${next}`);
      await untilWaiting();
      sandbox.store.load([machine('z')]);
      expect(names((await request).body)).toContain('z');
    });

    test.each([
      ['resourceVersionMatch=Exact', 'Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided'],
      [
        'resourceVersion=1&resourceVersionMatch=About',
        'Unsupported value: "About": supported values: "Exact", "NotOlderThan", ""',
      ],
      [
        'resourceVersion=0&resourceVersionMatch=Exact',
        'Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
      ],
    ])('refuses the options %s with 422 and their cause', async (query, message) => {
      const { code, body } = await api.get(`${MACHINES_PATH}?${query}`);
      expect(code).toBe(422);
      expect(body).toMatchObject({
        reason: 'Invalid',
        message: `ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: ${message}`,
        details: {
          group: 'meta.k8s.io',
          kind: 'ListOptions',
          causes: [{ message, field: 'resourceVersionMatch' }],
        },
      });
    });

    test.each([
      ['limit=1&continue=x', 400],
      ['resourceVersionMatch=Exact', 422],
      ['labelSelector=%3D', 400],
    ])('refuses %s with %i', async (query, code) => {
      expect((await api.get(`${MACHINES_PATH}?${query}`)).code).toBe(code);
    });

    test('omits kind and apiVersion only in items of built-in kinds', async () => {
      const { body: pods } = await api.get<{ kind: string; items: object[] }>('/api/v1/namespaces');
      expect([pods.kind, 'kind' in pods.items[0]!]).toEqual(['NamespaceList', false]);
      const { body: list } = await api.get<List>(MACHINES_PATH);
      expect(list.items[0]).toMatchObject({ apiVersion: 'lab.dev/v1', kind: 'Machine' });
    });
  });

  describe('watch', () => {
    test('sends existing objects first when no revision is given', async () => {
      sandbox.store.load([machine('a'), machine('b')]);
      const watch = await api.watch(`${MACHINES_PATH}?watch=1`);
      grow('a', 2);
      expect(await watch.take(3)).toEqual(['ADDED a', 'ADDED b', 'MODIFIED a']);
      watch.close();
    });

    test('resumes after a revision without losing a change', async () => {
      sandbox.store.create(MACHINES, machine('a'));
      const { resourceVersion } = (await api.get<List>(MACHINES_PATH)).body.metadata;
      grow('a', 2);
      sandbox.store.delete(MACHINES, { namespace: 'lab', name: 'a' });
      const watch = await api.watch(`${MACHINES_PATH}?watch=true&resourceVersion=${resourceVersion}`);
      expect(await watch.take(2)).toEqual(['MODIFIED a', 'DELETED a']);
      watch.close();
    });

    test('emits ADDED and DELETED when a label change moves an object in or out of the selection', async () => {
      sandbox.store.create(MACHINES, machine('a'));
      const watch = await api.watch(
        `${MACHINES_PATH}?watch=true&labelSelector=on&resourceVersion=${sandbox.store.revision}`,
      );
      const label = (labels?: Record<string, string>) =>
        sandbox.store.patch(
          MACHINES,
          { namespace: 'lab', name: 'a' },
          ({ metadata }) => void (metadata.labels = labels),
        );
      label({ on: '1' });
      grow('a', 2);
      label(undefined);
      expect(await watch.take(3)).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a']);
      watch.close();
    });

    test('sends bookmarks every minute on request', async () => {
      const watch = await api.watch(
        `${MACHINES_PATH}?watch=true&allowWatchBookmarks=true&resourceVersion=${sandbox.store.revision}`,
      );
      sandbox.store.create('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'elsewhere' } });
      clock.advance(60_000);
      expect(await watch.next()).toMatchObject({
        type: 'BOOKMARK',
        object: { kind: 'Machine', metadata: { resourceVersion: String(sandbox.store.revision) } },
      });
      watch.close();
    });

    test('marks the end of the initial events', async () => {
      sandbox.store.create(MACHINES, machine('a'));
      const watch = await api.watch(
        `${MACHINES_PATH}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
      );
      expect(await watch.take(1)).toEqual(['ADDED a']);
      expect((await watch.next())?.object.metadata.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' });
      watch.close();
      expect((await api.get(`${MACHINES_PATH}?watch=true&sendInitialEvents=true`)).code).toBe(422);
    });

    test('ends cleanly after its timeout', async () => {
      const watch = await api.watch(
        `${MACHINES_PATH}?watch=true&timeoutSeconds=5&resourceVersion=${sandbox.store.revision}`,
      );
      clock.advance(5000);
      expect(await watch.next()).toBeUndefined();
    });

    test('emits 410 in the stream when the revision has been compacted', async () => {
      const old = sandbox.store.revision;
      sandbox.store.create(MACHINES, machine('a'));
      sandbox.store.compact();
      const watch = await api.watch(`${MACHINES_PATH}?watch=true&resourceVersion=${old}`);
      expect(watch.response.status).toBe(200);
      expect(await watch.next()).toMatchObject({
        type: 'ERROR',
        object: {
          code: 410,
          reason: 'Expired',
          message: `too old resource version: ${old} (${sandbox.store.revision})`,
        },
      });
      expect(await watch.next()).toBeUndefined();
    });

    test('compacts changes older than five minutes automatically', async () => {
      const old = sandbox.store.revision;
      sandbox.store.create(MACHINES, machine('a'));
      clock.advance(11 * 60_000);
      expect(() => sandbox.store.eventsSince(MACHINES, old)).toThrow('too old resource version');
    });
  });
});
