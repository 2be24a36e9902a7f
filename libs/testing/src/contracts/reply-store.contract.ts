import { REPLY_LIFETIME_MS, type ReplyClaim, type ReplyStore } from '@headgate/domain-contracts';
import type { SharedStoreHarness } from './shared-store.js';

export interface ReplyStoreHarness {
  readonly store: ReplyStore;
  /** The same storage after a restart. */
  reopen(): ReplyStore | Promise<ReplyStore>;
  close(): void | Promise<void>;
}

const hex = (text: string): string => Buffer.from(text).toString('hex').padEnd(64, '0');
const timeOf = (ms: number): string => new Date(Date.UTC(2026, 0, 1) + ms).toISOString();
const SECOND_MS = 1000;

/** A claim that was claimed so many milliseconds after the start of 2026. */
const claimOf = (scope: string, overrides: Partial<ReplyClaim> = {}, ms = 0): ReplyClaim => ({
  scope: hex(scope),
  caller: hex('ann'),
  request: hex('a request'),
  replica: 'single',
  run: 'first',
  claimedAt: timeOf(ms),
  expiresAt: timeOf(ms + REPLY_LIFETIME_MS),
  ...overrides,
});
const REPLY = { status: 201, sealed: Buffer.from("Bob's answer").toString('base64') };

/** The rules for every `ReplyStore`. */
export function replyStoreContract(
  adapter: string,
  open: (maxPerCaller: number) => ReplyStoreHarness | Promise<ReplyStoreHarness>,
): void {
  describe(`ReplyStore, ${adapter}`, () => {
    const MAX_PER_CALLER = 3;
    let harness: ReplyStoreHarness;
    let store: ReplyStore;

    beforeEach(async () => {
      harness = await open(MAX_PER_CALLER);
      store = harness.store;
    });
    afterEach(() => harness?.close());

    test('returns the first answer to every later claim, also after a restart', async () => {
      const claim = claimOf('a');
      expect(await store.claim(claim)).toBeUndefined();
      await store.complete(claim, REPLY);
      const later = claimOf('a', { run: 'second', request: hex('another') }, SECOND_MS);
      expect(await store.claim(later)).toEqual({ ...claim, reply: REPLY });
      expect(await (await harness.reopen()).claim(later)).toEqual({ ...claim, reply: REPLY });
    });

    test('keeps only the status of an answer without content', async () => {
      const claim = claimOf('a');
      await store.claim(claim);
      await store.complete(claim, { status: 200 });
      expect(await (await harness.reopen()).claim(claimOf('a'))).toEqual({ ...claim, reply: { status: 200 } });
    });

    test('returns a claim without an answer, and does not give it to another run', async () => {
      const claim = claimOf('a');
      await store.claim(claim);
      const again = await harness.reopen();
      expect(await again.claim(claimOf('a', { run: 'second' }, SECOND_MS))).toEqual(claim);
      expect(await again.claim(claimOf('a', { run: 'third' }, SECOND_MS))).toEqual(claim);
    });

    test('accepts exactly one of several concurrent claims', async () => {
      const claims = ['first', 'second', 'third', 'fourth'].map((run) => claimOf('a', { run }));
      const earlier = await Promise.all(claims.map((claim) => store.claim(claim)));
      const [winner] = claims.filter((_claim, index) => earlier[index] === undefined);
      expect(earlier.filter((found) => found === undefined)).toHaveLength(1);
      for (const found of earlier) if (found) expect(found).toEqual(winner);
    });

    test('releases a claim, so that the scope can be claimed again', async () => {
      const claim = claimOf('a');
      await store.claim(claim);
      await store.release(claim);
      const next = claimOf('a', { run: 'second' }, SECOND_MS);
      expect(await store.claim(next)).toBeUndefined();
      expect(await (await harness.reopen()).claim(claim)).toEqual(next);
    });

    test('neither completes nor releases the claim of another run, nor one with an answer', async () => {
      const claim = claimOf('a');
      await store.claim(claim);
      const foreign = claimOf('a', { run: 'second' });
      await expect(store.complete(foreign, REPLY)).rejects.toMatchObject({ code: 'CONFLICT' });
      await store.release(foreign);
      expect(await store.claim(foreign)).toEqual(claim);
      await store.complete(claim, REPLY);
      await expect(store.complete(claim, { status: 200 })).rejects.toMatchObject({ code: 'CONFLICT' });
      await store.release(claim);
      expect(await store.claim(foreign)).toEqual({ ...claim, reply: REPLY });
      await expect(store.complete(claimOf('none'), REPLY)).rejects.toMatchObject({ code: 'CONFLICT' });
    });

    test('gives a scope to a new claim when the earlier one has expired', async () => {
      const claim = claimOf('a');
      await store.claim(claim);
      await store.complete(claim, REPLY);
      const before = claimOf('a', { run: 'second' }, REPLY_LIFETIME_MS - 1);
      expect(await store.claim(before)).toEqual({ ...claim, reply: REPLY });
      const after = claimOf('a', { run: 'third' }, REPLY_LIFETIME_MS);
      expect(await store.claim(after)).toBeUndefined();
      await store.complete(after, { status: 200 });
      expect(await (await harness.reopen()).claim(before)).toEqual({ ...after, reply: { status: 200 } });
    });

    test('deletes the expired claims, and no others', async () => {
      const [old, young] = [claimOf('old'), claimOf('young', {}, SECOND_MS)];
      await store.claim(old);
      await store.claim(young);
      await store.deleteExpired(old.expiresAt);
      const again = await harness.reopen();
      // As long as the claims are stored, they are returned to earlier claims.
      expect(await again.claim(old)).toBeUndefined();
      expect(await again.claim(claimOf('young', { run: 'second' }))).toEqual(young);
    });

    test('refuses more claims of one caller than it keeps, until the oldest has expired', async () => {
      for (const scope of ['a', 'b', 'c']) expect(await store.claim(claimOf(scope))).toBeUndefined();
      await expect(store.claim(claimOf('d'))).rejects.toMatchObject({
        code: 'TOO_MANY_KEYS',
        message: expect.stringContaining('3 idempotency keys within 24 hours'),
      });
      expect(await store.claim(claimOf('a'))).toEqual(claimOf('a'));
      expect(await store.claim(claimOf('e', { caller: hex('bob') }))).toBeUndefined();
      await store.release(claimOf('a'));
      expect(await store.claim(claimOf('d'))).toBeUndefined();
      expect(await store.claim(claimOf('f', {}, REPLY_LIFETIME_MS))).toBeUndefined();
    });
  });
}

/** The rules for every `ReplyStore` that several replicas use. */
export function sharedReplyStoreContract(
  adapter: string,
  open: () => SharedStoreHarness<ReplyStore> | Promise<SharedStoreHarness<ReplyStore>>,
): void {
  describe(`ReplyStore of several replicas, ${adapter}`, () => {
    let harness: SharedStoreHarness<ReplyStore>;
    let a: ReplyStore;
    let b: ReplyStore;

    beforeEach(async () => {
      harness = await open();
      [a, b] = [await harness.join('a'), await harness.join('b')];
    });
    afterEach(() => harness?.close());

    test('gives a scope to one replica, and the answer to the other one immediately', async () => {
      const [ofA, ofB] = [claimOf('a', { run: 'a', replica: 'a' }), claimOf('a', { run: 'b', replica: 'b' })];
      const [earlierA, earlierB] = await Promise.all([a.claim(ofA), b.claim(ofB)]);
      expect([earlierA, earlierB].filter((found) => found === undefined)).toHaveLength(1);
      const [winner, loser, claim, other] = earlierA === undefined ? [a, b, ofA, ofB] : [b, a, ofB, ofA];
      await winner.complete(claim, REPLY);
      expect(await loser.claim(other)).toEqual({ ...claim, reply: REPLY });
    });

    test('gives a scope that one replica has released to the other one', async () => {
      const [ofA, ofB] = [claimOf('a', { run: 'a' }), claimOf('a', { run: 'b' })];
      await a.claim(ofA);
      expect(await b.claim(ofB)).toEqual(ofA);
      await a.release(ofA);
      expect(await b.claim(ofB)).toBeUndefined();
      expect(await a.claim(ofA)).toEqual(ofB);
    });

    test('gives an expired scope to one of the replicas', async () => {
      await a.claim(claimOf('a'));
      const claims = [a, b].map((store, index) => store.claim(claimOf('a', { run: `${index}` }, REPLY_LIFETIME_MS)));
      expect((await Promise.all(claims)).filter((found) => found === undefined)).toHaveLength(1);
    });
  });
}
