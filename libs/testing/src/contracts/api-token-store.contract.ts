import type { ApiToken, ApiTokenStore } from '@headgate/domain-contracts';
import { untilSeen, type SharedStoreHarness } from './shared-store.js';

export interface ApiTokenStoreHarness {
  readonly store: ApiTokenStore;
  /** The same storage after a restart. */
  reopen(): ApiTokenStore | Promise<ApiTokenStore>;
  close(): void | Promise<void>;
}

const token = (id: string, overrides: Partial<ApiToken> = {}): ApiToken => ({
  id,
  name: `name of ${id}`,
  hash: 'a'.repeat(64),
  creator: 'ann@example.org',
  scope: { kind: 'vm', folder: 'prod/web', q: "Bob's; DROP TABLE api_token" },
  actions: ['read', 'power'],
  createdAt: '2026-01-01T00:00:00.000Z',
  expiresAt: '2026-02-01T00:00:00.000Z',
  lastUsedAt: null,
  ...overrides,
});

/** The rules for every `ApiTokenStore`. */
export function apiTokenStoreContract(
  adapter: string,
  open: () => ApiTokenStoreHarness | Promise<ApiTokenStoreHarness>,
): void {
  describe(`ApiTokenStore, ${adapter}`, () => {
    let harness: ApiTokenStoreHarness;

    beforeEach(async () => {
      harness = await open();
    });
    afterEach(() => harness?.close());

    test('keeps tokens, the newest first', async () => {
      const older = token('older', { addresses: ['10.0.0.0/8', '2001:db8::7'] });
      const newer = token('newer', { createdAt: '2026-01-02T00:00:00.000Z', scope: {}, actions: [] });
      await harness.store.put(older);
      await harness.store.put(newer);
      const again = await harness.reopen();
      expect(again.all()).toEqual([newer, older]);
      expect(again.get('older')).toEqual(older);
      expect(again.get('none')).toBeUndefined();
    });

    // A definition of a custom resource drops the fields that it does not name.
    test('keeps every field', async () => {
      const full: Required<ApiToken> = {
        ...token('full'),
        scope: { kind: 'vm', q: 'web', context: 'lab', folder: 'prod' } satisfies Required<ApiToken['scope']>,
        addresses: ['10.0.0.0/8'],
        agent: { actions: ['power'], changesPerHour: 10, maxPercentOfFolder: 25, approval: 'all' },
        isStopped: true,
        isOfDevice: true,
        lastUsedAt: '2026-01-05T00:00:00.000Z',
      };
      await harness.store.put(full);
      expect((await harness.reopen()).get('full')).toEqual(full);
    });

    test('records the last use of one token, and of none that is gone', async () => {
      await harness.store.put(token('a'));
      await harness.store.put(token('b'));
      await harness.store.setLastUsed('a', '2026-01-05T00:00:00.000Z');
      await harness.store.setLastUsed('gone', '2026-01-05T00:00:00.000Z');
      const again = await harness.reopen();
      expect([again.get('a')?.lastUsedAt, again.get('b')?.lastUsedAt]).toEqual(['2026-01-05T00:00:00.000Z', null]);
      expect(again.get('gone')).toBeUndefined();
    });

    test('changes the given parts of one token, and none of one that is gone', async () => {
      await harness.store.put(token('a'));
      await harness.store.put(token('b'));
      await harness.store.setLastUsed('a', '2026-01-05T00:00:00.000Z');
      const change = { hash: 'b'.repeat(64), creator: '', actions: [], addresses: ['192.0.2.7'], scope: {} } as const;
      expect(await harness.store.update('a', change)).toBe(true);
      expect(await harness.store.update('a', { expiresAt: '2026-03-01T00:00:00.000Z' })).toBe(true);
      expect(await harness.store.update('gone', change)).toBe(false);
      const again = await harness.reopen();
      const expiresAt = '2026-03-01T00:00:00.000Z';
      expect(again.get('a')).toEqual({ ...token('a'), ...change, expiresAt, lastUsedAt: '2026-01-05T00:00:00.000Z' });
      expect(again.get('b')).toEqual(token('b'));
      expect(again.get('gone')).toBeUndefined();
    });

    test('keeps the leash of a token for an agent, and whether it is stopped', async () => {
      const agent = {
        actions: ['power'],
        changesPerHour: 10,
        maxPercentOfFolder: 25,
        approval: 'destructive',
      } as const;
      const leashed = token('a', { actions: ['read'], agent });
      await harness.store.put(leashed);
      await harness.store.put(token('b'));
      expect([harness.store.get('a'), harness.store.get('b')]).toEqual([leashed, token('b')]);
      expect(await harness.store.update('a', { isStopped: true })).toBe(true);
      expect(await harness.store.update('a', { agent: { ...agent, approval: 'all' } })).toBe(true);
      const again = await harness.reopen();
      expect(again.get('a')).toEqual({ ...leashed, agent: { ...agent, approval: 'all' }, isStopped: true });
      expect(again.get('b')).toEqual(token('b'));
      expect(await again.update('a', { isStopped: false })).toBe(true);
      expect(again.get('a')?.isStopped).toBe(false);
    });

    test('changes a token only if it has the expected hash', async () => {
      await harness.store.put(token('a'));
      const rotated = { hash: 'b'.repeat(64) };
      expect(await harness.store.update('a', rotated, token('a').hash)).toBe(true);
      expect(await harness.store.update('a', { hash: 'c'.repeat(64) }, token('a').hash)).toBe(false);
      expect((await harness.reopen()).get('a')).toEqual({ ...token('a'), ...rotated });
    });

    test('deletes one token and reports whether it existed', async () => {
      await harness.store.put(token('a'));
      await harness.store.put(token('b'));
      expect([await harness.store.delete('a'), await harness.store.delete('a')]).toEqual([true, false]);
      expect(harness.store.get('a')).toBeUndefined();
      expect((await harness.reopen()).all().map(({ id }) => id)).toEqual(['b']);
    });
  });
}

/** The rules for every `ApiTokenStore` that several replicas use, besides the others. */
export function sharedApiTokenStoreContract(
  adapter: string,
  open: () => SharedStoreHarness<ApiTokenStore> | Promise<SharedStoreHarness<ApiTokenStore>>,
): void {
  describe(`ApiTokenStore of several replicas, ${adapter}`, () => {
    let harness: SharedStoreHarness<ApiTokenStore>;
    let a: ApiTokenStore;
    let b: ApiTokenStore;

    beforeEach(async () => {
      harness = await open();
      [a, b] = [await harness.join('a'), await harness.join('b')];
    });
    afterEach(() => harness?.close());

    test('shows a token to the other replicas until one of them deletes it', async () => {
      await a.put(token('a'));
      await untilSeen(b, () => b.get('a') !== undefined);
      expect(b.get('a')).toEqual(token('a'));
      expect(await b.delete('a')).toBe(true);
      expect(b.get('a')).toBeUndefined();
      await untilSeen(a, () => a.get('a') === undefined);
      expect([await a.delete('a'), a.all(), b.all()]).toEqual([false, [], []]);
    });

    test('does not bring a deleted token back when its use is recorded', async () => {
      await a.put(token('a'));
      await untilSeen(b, () => b.get('a') !== undefined);
      await Promise.all([a.delete('a'), b.setLastUsed('a', '2026-01-05T00:00:00.000Z')]);
      await untilSeen(b, () => b.get('a') === undefined);
      const c = await harness.join('c');
      expect([a.all(), b.all(), c.all()]).toEqual([[], [], []]);
    });

    test('reports a change to the other replicas, and keeps what another one has changed', async () => {
      await a.put(token('a'));
      await untilSeen(b, () => b.get('a') !== undefined);
      const [hash, expiresAt] = ['b'.repeat(64), '2026-03-01T00:00:00.000Z'];
      expect(await Promise.all([a.update('a', { hash }), b.update('a', { expiresAt })])).toEqual([true, true]);
      const both = { ...token('a'), hash, expiresAt };
      await untilSeen(a, () => a.get('a')?.expiresAt === expiresAt);
      await untilSeen(b, () => b.get('a')?.hash === hash);
      expect([a.get('a'), b.get('a')]).toEqual([both, both]);
    });

    test('changes a token at one replica only if both expect the same hash', async () => {
      await a.put(token('a'));
      await untilSeen(b, () => b.get('a') !== undefined);
      const { hash } = token('a');
      const [one, two] = ['b'.repeat(64), 'c'.repeat(64)];
      const changed = await Promise.all([a.update('a', { hash: one }, hash), b.update('a', { hash: two }, hash)]);
      expect([...changed].sort()).toEqual([false, true]);
      expect((await harness.join('c')).get('a')?.hash).toBe(changed[0] ? one : two);
    });

    test('does not bring a deleted token back when it is changed', async () => {
      await a.put(token('a'));
      await untilSeen(b, () => b.get('a') !== undefined);
      await Promise.all([a.delete('a'), b.update('a', { hash: 'b'.repeat(64) })]);
      await untilSeen(b, () => b.get('a') === undefined);
      const c = await harness.join('c');
      expect([a.all(), b.all(), c.all()]).toEqual([[], [], []]);
    });

    test('records uses at several replicas', async () => {
      await a.put(token('a'));
      await untilSeen(b, () => b.get('a') !== undefined);
      const times = ['2026-01-05T00:00:00.000Z', '2026-01-05T00:00:01.000Z'] as const;
      await Promise.all([a.setLastUsed('a', times[0]), b.setLastUsed('a', times[1])]);
      const c = await harness.join('c');
      expect(times).toContain(c.get('a')?.lastUsedAt);
      expect({ ...c.get('a'), lastUsedAt: null }).toEqual(token('a'));
    });

    test('gives a name to one token only', async () => {
      const created = await Promise.allSettled([a.put(token('a', { name: 'ci' })), b.put(token('b', { name: 'ci' }))]);
      expect(created.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      const refused = created.find((result) => result.status === 'rejected');
      expect(refused?.reason).toMatchObject({ code: 'ALREADY_EXISTS' });
      expect((await harness.join('c')).all()).toHaveLength(1);
    });
  });
}
