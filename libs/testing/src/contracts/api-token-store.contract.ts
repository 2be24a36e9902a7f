import type { ApiToken, ApiTokenStore } from '@headgate/domain-contracts';

export interface ApiTokenStoreHarness {
  readonly store: ApiTokenStore;
  /** The same storage after a restart. */
  reopen(): ApiTokenStore;
  close(): void;
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
export function apiTokenStoreContract(adapter: string, open: () => ApiTokenStoreHarness): void {
  describe(`ApiTokenStore, ${adapter}`, () => {
    let harness: ApiTokenStoreHarness;

    beforeEach(() => {
      harness = open();
    });
    afterEach(() => harness?.close());

    test('keeps tokens, the newest first', () => {
      const older = token('older');
      const newer = token('newer', { createdAt: '2026-01-02T00:00:00.000Z', scope: {}, actions: [] });
      harness.store.put(older);
      harness.store.put(newer);
      const again = harness.reopen();
      expect(again.all()).toEqual([newer, older]);
      expect(again.get('older')).toEqual(older);
      expect(again.get('none')).toBeUndefined();
    });

    test('records the last use of one token, and of none that is gone', () => {
      harness.store.put(token('a'));
      harness.store.put(token('b'));
      harness.store.setLastUsed('a', '2026-01-05T00:00:00.000Z');
      harness.store.setLastUsed('gone', '2026-01-05T00:00:00.000Z');
      const again = harness.reopen();
      expect([again.get('a')?.lastUsedAt, again.get('b')?.lastUsedAt]).toEqual(['2026-01-05T00:00:00.000Z', null]);
      expect(again.get('gone')).toBeUndefined();
    });

    test('deletes one token and reports whether it existed', () => {
      harness.store.put(token('a'));
      harness.store.put(token('b'));
      expect([harness.store.delete('a'), harness.store.delete('a')]).toEqual([true, false]);
      expect(
        harness
          .reopen()
          .all()
          .map(({ id }) => id),
      ).toEqual(['b']);
    });
  });
}
