import { DomainError, type FolderDelta } from '@headgate/domain-contracts';
import { NAMESPACE, StoreHarness } from '../testing/store-harness.contract.js';
import { MAX_RECENT, shardOf, type FolderShardObject, type FolderTreeObject } from './folder-objects.js';
import type { KubeFolderStore } from './kube-folder-store.js';

const TREES = 'foldertrees.svc.dev';
const SHARDS = 'foldershards.svc.dev';
const KEY = { namespace: NAMESPACE, name: 'folders' };

const delta = (change: Partial<FolderDelta>): FolderDelta => ({
  removed: [],
  renamed: [],
  created: [],
  assigned: [],
  ...change,
});
const refOf = (index: number): string => `vm/lab/default/v${index}`;
const refsOf = (count: number, path: string) =>
  Array.from({ length: count }, (_none, index) => ({ ref: refOf(index), uid: `uid-${index}`, path }));

describe('the folders in custom resources', () => {
  let harness: StoreHarness;
  let store: KubeFolderStore;
  let version: string;

  beforeEach(async () => {
    harness = await StoreHarness.open();
    store = harness.connect().folders;
    ({ version } = await store.read());
  });
  afterEach(() => harness.close());

  const commit = async (change: Partial<FolderDelta>): Promise<void> => {
    version = await store.commit(version, delta(change));
  };
  const tree = (): FolderTreeObject => harness.sandbox.store.get(TREES, KEY) as unknown as FolderTreeObject;
  const shards = (): FolderShardObject[] => harness.sandbox.store.list(SHARDS) as unknown as FolderShardObject[];
  const readAgain = async (): Promise<Record<string, string>> => {
    const { members } = await harness.connect().folders.read();
    return Object.fromEntries(members.map(({ ref, path }) => [ref, path]));
  };

  test('change one object with each commit', async () => {
    await commit({ created: ['prod'], assigned: refsOf(100, 'prod') });
    const before = harness.sandbox.requests.count({ verb: 'update' });
    await commit({ renamed: [{ from: 'prod', to: 'live' }] });
    expect(harness.sandbox.requests.count({ verb: 'update' }) - before).toBe(1);
    expect(Object.values(await readAgain())).toEqual(Array<string>(100).fill('live'));
    expect(shards()).toEqual([]);
  });

  test('move members to shards when the tree has many, and lose none', async () => {
    await commit({ created: ['a', 'b'], assigned: refsOf(400, 'a') });
    await commit({ assigned: refsOf(200, 'b') });
    expect(tree().spec.recent).toHaveLength(200);
    expect(shards().length).toBeGreaterThan(50);
    const stored = await readAgain();
    expect(Object.keys(stored)).toHaveLength(400);
    expect([stored[refOf(0)], stored[refOf(199)], stored[refOf(200)]]).toEqual(['b', 'b', 'a']);
    await commit({ removed: ['a'], assigned: refsOf(MAX_RECENT, 'b') });
    await commit({ assigned: [{ ref: refOf(3), uid: 'uid-3', path: undefined }] });
    expect(Object.keys(await readAgain())).toHaveLength(MAX_RECENT - 1);
  });

  test('do not give the members of a removed folder to a new one of the same name', async () => {
    await commit({ created: ['a'], assigned: refsOf(MAX_RECENT, 'a') });
    await commit({ assigned: [{ ref: refOf(0), uid: 'uid-0', path: 'a' }] });
    await commit({ removed: ['a'] });
    await commit({ created: ['a'] });
    expect(await readAgain()).toEqual({});
  });

  test('keep their members when a replica ends between the shards and the tree', async () => {
    await commit({ created: ['a', 'b'], assigned: refsOf(MAX_RECENT, 'a') });
    harness.sandbox.faults.failNext({ verb: 'update', resource: TREES }, 500, 10);
    await expect(commit({ assigned: refsOf(10, 'b') })).rejects.toMatchObject({ code: 'BACKEND_FAILED' });
    harness.sandbox.faults.clear();
    expect(shards().length).toBeGreaterThan(0);
    const other = harness.connect().folders;
    const records = await other.read();
    expect(records.members).toHaveLength(MAX_RECENT);
    await other.commit(records.version, delta({ assigned: refsOf(10, 'b') }));
    const stored = await readAgain();
    expect([stored[refOf(0)], stored[refOf(10)]]).toEqual(['b', 'a']);
  });

  test('agree when two replicas move members to shards at the same time', async () => {
    await commit({ created: ['a', 'b'], assigned: refsOf(MAX_RECENT, 'a') });
    const other = harness.connect().folders;
    const records = await other.read();
    const results = await Promise.allSettled([
      store.commit(version, delta({ assigned: refsOf(10, 'b') })),
      other.commit(records.version, delta({ assigned: [{ ref: refOf(0), uid: 'uid-0', path: undefined }] })),
    ]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(results.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'CONFLICT' } });
    const stored = await readAgain();
    expect(stored[refOf(0)]).toBe(results[0]?.status === 'fulfilled' ? 'b' : undefined);
    expect(stored[refOf(499)]).toBe('a');
  });

  test('carry a commit out once when its response is lost', async () => {
    const { api } = (store as unknown as { store: { api: { replace: (...args: unknown[]) => Promise<unknown> } } })
      .store;
    const replace = api.replace.bind(api);
    let lost = 1;
    api.replace = async (...args) => {
      const stored = await replace(...args);
      if (lost-- > 0) throw new DomainError('BACKEND_TIMEOUT', 'no response');
      return stored;
    };
    await commit({ created: ['prod'] });
    expect(tree().spec.folders.map(({ path }) => path)).toEqual(['prod']);
    await commit({ created: ['test'] });
    expect(tree().spec.revision).toBe(2);
  });

  test('refuse a commit that is too large, and change nothing', async () => {
    await commit({ created: ['a'] });
    await expect(commit({ assigned: refsOf(5_001, 'a') })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    expect(tree().spec.recent).toEqual([]);
  });

  test('report changes of other replicas, and none of their own', async () => {
    const reported: string[] = [];
    const seen = Promise.withResolvers<void>();
    store.subscribe((next) => {
      reported.push(next);
      seen.resolve();
    });
    const other = harness.connect().folders;
    const records = await other.read();
    const theirs = await other.commit(records.version, delta({ created: ['prod'] }));
    await seen.promise;
    expect(reported).toEqual([theirs]);
    await expect(store.commit(version, delta({ created: ['late'] }))).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  describe('of an earlier release, which stored only refs', () => {
    /** What that release has written: a shard with most members, and the latest assignments in the tree. */
    beforeEach(async () => {
      await commit({ created: ['a', 'b'], assigned: refsOf(MAX_RECENT, 'a') });
      await commit({
        assigned: [
          { ref: refOf(0), uid: 'uid-0', path: 'b' },
          { ref: refOf(1), uid: 'uid-1', path: undefined },
        ],
      });
      const refOnly = (entry: string): string => entry.split(' ')[0]!;
      for (const { metadata } of shards())
        harness.sandbox.store.patch(SHARDS, { namespace: NAMESPACE, name: metadata.name ?? '' }, (draft) => {
          const { spec } = draft as unknown as { spec: Record<string, unknown> & FolderShardObject['spec'] };
          const members = spec.members.map(({ folder, refs }) => ({ folder, refs: refs.map(refOnly) }));
          Object.assign(spec, { formatVersion: 1, members });
        });
      harness.sandbox.store.patch(TREES, KEY, (draft) => {
        const { spec } = draft as unknown as { spec: FolderTreeObject['spec'] };
        Object.assign(spec, {
          formatVersion: 1,
          recent: spec.recent.map((one) => ({ ...one, ref: refOnly(one.ref) })),
        });
      });
    });

    test('are read as members that are not bound, and refused to that release from then on', async () => {
      const next = harness.connect().folders;
      const { members, boundSince } = await next.read();
      expect(members).toHaveLength(MAX_RECENT - 1);
      expect(members.every(({ uid, state }) => uid === '' && state === 'unbound')).toBe(true);
      expect(members.find(({ ref }) => ref === refOf(0))?.path).toBe('b');
      expect(Math.abs(Date.now() - Date.parse(boundSince ?? ''))).toBeLessThan(60_000);
      expect(tree().spec.formatVersion).toBe(2);
      // The time of the first replica counts, also for those that start later.
      expect((await harness.connect().folders.read()).boundSince).toBe(boundSince);
    });

    test('are bound one by one, in the tree and in the shards', async () => {
      const next = harness.connect().folders;
      let { version: current } = await next.read();
      const bind = (index: number) => [
        { ref: refOf(index), uid: '', path: undefined },
        { ref: refOf(index), uid: `new-${index}`, path: 'a' },
      ];
      current = await next.commit(current, delta({ assigned: [...bind(0), ...bind(2)] }));
      const others = Array.from({ length: MAX_RECENT / 2 }, (_none, index) => bind(index + 3)).flat();
      await next.commit(current, delta({ assigned: others }));
      const { members } = await harness.connect().folders.read();
      expect(members).toHaveLength(MAX_RECENT - 1);
      const bound = members.filter(({ state }) => state === 'member');
      expect(bound).toHaveLength(MAX_RECENT / 2 + 2);
      expect(bound.every(({ ref, uid }) => uid === `new-${ref.split('/v')[1]}`)).toBe(true);
    });

    test('are rewritten once by two replicas that start at the same time', async () => {
      const records = await Promise.all([harness.connect().folders.read(), harness.connect().folders.read()]);
      expect(records[0]).toEqual(records[1]);
    });
  });

  describe('that this release can not read', () => {
    const change = (edit: (spec: Record<string, unknown>) => void): void =>
      void harness.sandbox.store.patch(TREES, KEY, (draft) => edit((draft as never as { spec: never }).spec));

    test.each([
      ['a newer format', (spec: Record<string, unknown>) => void (spec['formatVersion'] = 3), /newer release wrote/],
      ['no folders', (spec: Record<string, unknown>) => void delete spec['folders'], /damaged/],
      [
        'two folders of one path',
        (spec: Record<string, unknown>) =>
          void (spec['folders'] = [
            { id: 1, path: 'a' },
            { id: 2, path: 'a' },
          ]),
        /damaged .*same path/,
      ],
      [
        'an assignment that is no instance',
        (spec: Record<string, unknown>) => void ((spec['recent'] as { ref: string }[])[0]!.ref = `${refOf(0)} %FF`),
        /damaged .*no valid instance/,
      ],
      ['a missing shard', (spec: Record<string, unknown>) => void ((spec['shards'] as number[])[7] = 3), /shard-07/],
    ])('are refused and kept: %s', async (_title, edit, message) => {
      await commit({ created: ['prod'], assigned: refsOf(1, 'prod') });
      change(edit);
      const before = tree();
      const next = harness.connect();
      await expect(next.open()).rejects.toMatchObject({ code: 'NOT_READY', message: expect.stringMatching(message) });
      expect(next.replicas.isMember).toBe(false);
      await expect(store.commit(version, delta({ created: ['late'] }))).rejects.toThrow();
      expect(tree()).toEqual(before);
    });

    test('are refused if the tree is missing, but shards exist', async () => {
      await commit({ created: ['a'], assigned: refsOf(MAX_RECENT, 'a') });
      await commit({ assigned: refsOf(1, 'a') });
      harness.sandbox.store.delete(TREES, KEY);
      await expect(harness.connect().folders.read()).rejects.toMatchObject({ code: 'NOT_READY' });
      expect(shards().length).toBeGreaterThan(0);
    });
  });

  test('name the remedy if the definitions are not installed', async () => {
    const bare = await StoreHarness.open({}, { install: false });
    await expect(bare.connect().open()).rejects.toMatchObject({
      code: 'NOT_READY',
      message: expect.stringMatching(/kubectl apply -k deploy\/vm-service\/crds/),
    });
    await bare.close();
  });

  test('are validated by the API server', async () => {
    const spec = { ...tree().spec, folders: [{ id: 0, path: '' }] };
    const response = await fetch(`${harness.sandbox.url}/apis/svc.dev/v1/namespaces/${NAMESPACE}/foldertrees/folders`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...tree(), spec }),
    });
    expect(response.status).toBe(422);
    expect(((await response.json()) as { message: string }).message).toMatch(/spec\.folders\[0\]\.id/);
  });
});

test('the hash of a ref never changes, because it is part of the format', () => {
  expect(['vm/lab/default/web', 'ct/prod/tailvm/box', 'vm/a/b/%C3%A9'].map(shardOf)).toEqual([11, 58, 60]);
});
