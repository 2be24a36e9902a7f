import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { REPLY_LIFETIME_MS, SILENT_LOG, SingleReplica, type Replicas } from '@headgate/domain-contracts';
import { RegistryDatabase, SqliteReplyStore } from '@headgate/registry-store';
import { FixedClock } from '@headgate/testing';
import { ExpiredKeys } from './expired-keys.js';
import type { KeyedRequest } from './keyed-request.js';
import { KeyedRequests } from './keyed-requests.js';
import { MAX_SEALED_CHARS, openAnswer, sealAnswer } from './sealed-answer.js';

const keyed = (overrides: Partial<KeyedRequest> = {}): KeyedRequest => ({
  key: 'k1',
  scope: '5c'.repeat(32),
  caller: 'ca'.repeat(32),
  request: '4e'.repeat(32),
  ...overrides,
});
const ANSWER = { headers: { 'content-type': 'application/json' }, body: '{"status":"ok"}' };

/** One of several replicas, of which some are gone. */
const replica = (id: string, gone: ReadonlySet<string> = new Set()): Replicas =>
  Object.assign(new SingleReplica(), { id, isGone: async (other: string) => gone.has(other) });

describe('KeyedRequests', () => {
  let folder: string;
  let database: RegistryDatabase;
  let clock: FixedClock;
  let store: SqliteReplyStore;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-keys-'));
    database = new RegistryDatabase(join(folder, 'registry.db')).open();
    store = new SqliteReplyStore(database, 100);
    clock = new FixedClock();
  });
  afterEach(() => {
    database.close();
    rmSync(folder, { recursive: true });
  });

  const open = (replicas: Replicas = new SingleReplica()): KeyedRequests =>
    new KeyedRequests({ store, replicas, clock, log: SILENT_LOG });
  const stored = (): number => database.count('SELECT count(*) AS n FROM reply');

  test('carry a request out again when its key has expired, and not before', async () => {
    const requests = open();
    expect(await requests.begin(keyed())).toBeUndefined();
    await requests.keep(keyed(), 200, ANSWER);
    clock.advance(REPLY_LIFETIME_MS - 1);
    expect(await requests.begin(keyed())).toEqual({ status: 200, ...ANSWER });
    clock.advance(1);
    expect(await requests.begin(keyed({ request: 'ff'.repeat(32) }))).toBeUndefined();
  });

  test('wait for the request that is carried out, and take its place when it was not final', async () => {
    const requests = open();
    await requests.begin(keyed());
    const [second, third] = [requests.begin(keyed()), requests.begin(keyed())];
    await requests.release(keyed());
    expect(await second).toBeUndefined();
    await requests.keep(keyed(), 201, ANSWER);
    expect(await third).toEqual({ status: 201, ...ANSWER });
  });

  test('are refused while another replica carries the request out, and get its answer afterwards', async () => {
    const [a, b] = [open(replica('a')), open(replica('b'))];
    await a.begin(keyed());
    await expect(b.begin(keyed())).rejects.toMatchObject({
      code: 'KEY_IN_USE',
      message: expect.stringMatching(/Another replica .* Send it again/),
    });
    await expect(b.begin(keyed({ request: 'ff'.repeat(32) }))).rejects.toMatchObject({ code: 'KEY_REUSED' });
    await a.keep(keyed(), 200, ANSWER);
    expect(await b.begin(keyed())).toEqual({ status: 200, ...ANSWER });
  });

  test('are never carried out again after a replica that is gone, whose answer counts if it comes in the end', async () => {
    const [a, b] = [open(replica('a')), open(replica('b', new Set('a')))];
    await a.begin(keyed());
    await expect(b.begin(keyed())).rejects.toMatchObject({
      code: 'ANSWER_UNKNOWN',
      message: expect.stringMatching(/its outcome is unknown.*GET \/api\/tasks/),
      details: { claimedAt: clock.iso() },
    });
    // It was only suspended.
    await a.keep(keyed(), 200, ANSWER);
    expect(await b.begin(keyed())).toEqual({ status: 200, ...ANSWER });
  });

  test('are refused after an earlier run of the same service that had no answer', async () => {
    await open().begin(keyed());
    await expect(open().begin(keyed())).rejects.toMatchObject({ code: 'ANSWER_UNKNOWN' });
  });

  test('keep only the status of an answer that is too large, and say so', async () => {
    const requests = open();
    await requests.begin(keyed());
    let seed = 1;
    // Text that does not compress.
    const body = Array.from({ length: MAX_SEALED_CHARS }, () =>
      String.fromCharCode(33 + ((seed = (seed * 48_271) % 2_147_483_647) % 94)),
    ).join('');
    await requests.keep(keyed(), 207, { ...ANSWER, body });
    await expect(requests.begin(keyed())).rejects.toMatchObject({
      code: 'ANSWER_UNKNOWN',
      message: expect.stringMatching(/answered with status 207 .* too large to be kept/),
    });
  });

  test('are limited in number for each caller', async () => {
    const scopeOf = (index: number): string => index.toString(16).padStart(64, '0');
    const requests = open();
    for (let index = 0; index < 100; index++) await requests.begin(keyed({ scope: scopeOf(index) }));
    const next = keyed({ scope: scopeOf(100) });
    await expect(requests.begin(next)).rejects.toMatchObject({ code: 'TOO_MANY_KEYS' });
    // A refused claim leaves no request behind that others would wait for.
    await expect(requests.begin(next)).rejects.toMatchObject({ code: 'TOO_MANY_KEYS' });
    expect(await requests.begin({ ...next, caller: 'cb'.repeat(32) })).toBeUndefined();
    clock.advance(REPLY_LIFETIME_MS);
    expect(await requests.begin(keyed({ scope: scopeOf(101) }))).toBeUndefined();
  });

  test('are deleted after they have expired, by the leader', async () => {
    const follower = Object.assign(replica('b'), { isLeader: false });
    const [ofLeader, ofFollower] = [replica('a'), follower].map(
      (replicas) => new ExpiredKeys(store, replicas, clock, SILENT_LOG),
    );
    await open().begin(keyed());
    ofFollower!.start();
    clock.advance(REPLY_LIFETIME_MS + 1);
    await ofFollower!.close();
    expect(stored()).toBe(1);
    ofLeader!.start();
    clock.advance(10 * 60_000);
    await ofLeader!.close();
    expect([stored(), clock.pending]).toEqual([0, 0]);
  });
});

describe('a sealed answer', () => {
  test('is opened with its key in its scope only, and not after a change', async () => {
    const sealed = (await sealAnswer(ANSWER, keyed()))!;
    expect(await openAnswer(sealed, keyed())).toEqual(ANSWER);
    await expect(openAnswer(sealed, keyed({ key: 'k2' }))).rejects.toThrow();
    await expect(openAnswer(sealed, keyed({ scope: '00'.repeat(32) }))).rejects.toThrow();
    const bytes = Buffer.from(sealed, 'base64');
    bytes[20] = (bytes[20] ?? 0) ^ 1;
    await expect(openAnswer(bytes.toString('base64'), keyed())).rejects.toThrow();
    expect(await sealAnswer(ANSWER, keyed())).not.toBe(sealed);
  });
});
