import { KEY_VALIDITY_CEILING_MS, readServerKeyDocument } from './server-key-document.js';
import { ServerKeys, ServerKeySource } from './server-keys.js';
import { signJson } from './signed-json.js';
import { SigningKey } from './signing-key.js';
import { Random } from './testing/random.js';

const DAY = 24 * 60 * 60 * 1000;
const START = 1_700_000_000_000;

function buildDocument({
  server = 'a.example',
  key = SigningKey.generate('ed25519:v1'),
  validUntil = START + DAY,
} = {}) {
  const verify_keys = { [key.id]: { key: key.publicKey } };
  return signJson({ server_name: server, verify_keys, old_verify_keys: {}, valid_until_ts: validUntil }, server, key);
}

class StubPeer extends ServerKeySource {
  readonly asked: string[] = [];
  constructor(public answer: () => Promise<unknown>) {
    super();
  }
  override fetch(server: string): Promise<unknown> {
    this.asked.push(server);
    return this.answer();
  }
}

describe('readServerKeyDocument', () => {
  test('believes a document for seven days, whatever the peer claims', () => {
    const centuries = buildDocument({ validUntil: START + 36_500 * DAY });
    expect(readServerKeyDocument(centuries, 'a.example', START).validUntil).toBe(START + KEY_VALIDITY_CEILING_MS);
  });

  test('believes a shorter claim as it stands', () => {
    const oneDay = buildDocument({ validUntil: START + DAY });
    expect(readServerKeyDocument(oneDay, 'a.example', START).validUntil).toBe(START + DAY);
  });

  test.each([1, 2, 3])('believes nothing for longer than it says nor than seven days (seed %i)', (seed) => {
    const random = new Random(seed);
    for (let i = 0; i < 50; i++) {
      const now = START + random.below(1e9) * 1000;
      const claimed = now + 1 + random.below(2 ** 32) * random.pick([1, 5, 100_000]);
      const { validUntil } = readServerKeyDocument(buildDocument({ validUntil: claimed }), 'a.example', now);
      expect(validUntil).toBe(claimed - now < KEY_VALIDITY_CEILING_MS ? claimed : now + KEY_VALIDITY_CEILING_MS);
    }
  });

  test('wants every listed key to have signed, and passes over algorithms it does not know', () => {
    const [one, two] = [SigningKey.generate('ed25519:one'), SigningKey.generate('ed25519:two')];
    const verify_keys = {
      [one.id]: { key: one.publicKey },
      [two.id]: { key: two.publicKey },
      'other:1': { key: 'whatever' },
    };
    const document = { server_name: 'a.example', verify_keys, valid_until_ts: START + DAY };
    const both = signJson(signJson(document, 'a.example', one), 'a.example', two);
    expect([...readServerKeyDocument(both, 'a.example', START).verifyKeys.keys()]).toEqual([one.id, two.id]);
    const half = signJson(document, 'a.example', one);
    expect(() => readServerKeyDocument(half, 'a.example', START)).toThrow('ed25519:two has not signed');
  });

  test('refuses a document of another server, unsigned, out of date, or signed by another key', () => {
    const good = buildDocument();
    const { signatures: _signatures, ...unsigned } = good;
    const other = buildDocument();
    const read = (raw: unknown) => () => readServerKeyDocument(raw, 'a.example', START);
    expect(read(buildDocument({ server: 'b.example' }))).toThrow('does not speak for');
    expect(read(unsigned)).toThrow('has not signed');
    expect(read({ ...good, verify_keys: other.verify_keys })).toThrow('has not signed');
    expect(read(buildDocument({ validUntil: START }))).toThrow('out of date');
    expect(read({ ...good, verify_keys: {} })).toThrow('no Ed25519 key');
    expect(read({ ...good, valid_until_ts: 'soon' })).toThrow('valid_until_ts');
    expect(read([])).toThrow('does not speak for');
  });
});

describe('ServerKeys', () => {
  test('fetches again after seven days although the peer claimed a century', async () => {
    let now = START;
    const key = SigningKey.generate('ed25519:v1');
    const peer = new StubPeer(async () => buildDocument({ key, validUntil: START + 36_500 * DAY }));
    const keys = new ServerKeys(peer, { now: () => now });

    expect(await keys.find('a.example', 'ed25519:v1')).toBe(key.publicKey);
    now = START + KEY_VALIDITY_CEILING_MS - 1;
    expect(await keys.find('a.example', 'ed25519:v1')).toBe(key.publicKey);
    expect(peer.asked).toHaveLength(1);

    now = START + KEY_VALIDITY_CEILING_MS;
    expect(await keys.find('a.example', 'ed25519:v1')).toBe(key.publicKey);
    expect(peer.asked).toHaveLength(2);
  });

  test('does not believe a document past its time when the peer is gone', async () => {
    let now = START;
    const peer = new StubPeer(async () => buildDocument({ validUntil: START + DAY }));
    const keys = new ServerKeys(peer, { now: () => now });
    await keys.find('a.example', 'ed25519:v1');
    peer.answer = () => Promise.reject(new Error('unreachable'));
    now = START + DAY;
    expect(await keys.find('a.example', 'ed25519:v1')).toBeUndefined();
  });

  test('sends one fetch for any number of parallel misses', async () => {
    const peer = new StubPeer(async () => buildDocument());
    const keys = new ServerKeys(peer, { now: () => START });
    await Promise.all(Array.from({ length: 50 }, () => keys.find('a.example', 'ed25519:v1')));
    expect(peer.asked).toHaveLength(1);
  });

  test('fetches on every miss of an unknown key id, as the contract leaves that unbounded', async () => {
    const peer = new StubPeer(async () => buildDocument());
    const keys = new ServerKeys(peer, { now: () => START });
    for (let i = 0; i < 5; i++) expect(await keys.find('a.example', `ed25519:no${i}`)).toBeUndefined();
    for (let i = 0; i < 5; i++) expect(await keys.find('a.example', 'ed25519:no')).toBeUndefined();
    expect(peer.asked).toHaveLength(10);
  });

  test('remembers a miss for a while where the operator wants it', async () => {
    let now = START;
    const peer = new StubPeer(() => Promise.reject(new Error('unreachable')));
    const keys = new ServerKeys(peer, { now: () => now, retryAfterMs: 1000 });
    for (let i = 0; i < 5; i++) await keys.find('a.example', 'ed25519:v1');
    expect(peer.asked).toHaveLength(1);
    now += 1000;
    await keys.find('a.example', 'ed25519:v1');
    expect(peer.asked).toHaveLength(2);
  });

  describe('for an event', () => {
    const [now, old] = [SigningKey.generate('ed25519:now'), SigningKey.generate('ed25519:old')];
    const document = {
      server_name: 'a.example',
      verify_keys: { [now.id]: { key: now.publicKey } },
      old_verify_keys: {
        [old.id]: { key: old.publicKey, expired_ts: START - DAY },
        'ed25519:timeless': { key: 'x' },
        nonsense: { key: 'x', expired_ts: START },
      },
      valid_until_ts: START + 30 * DAY,
    };
    let peer: StubPeer;
    let keys: ServerKeys;
    beforeEach(() => {
      peer = new StubPeer(async () => signJson(document, 'a.example', now));
      keys = new ServerKeys(peer, { now: () => START });
    });
    const find = (id: string, sentAt: number) => keys.findForEvent('a.example', id, sentAt);

    test('are good up to the moment until which we believe them', async () => {
      expect(await find(now.id, START - 1000 * DAY)).toBe(now.publicKey);
      expect(await find(now.id, START + KEY_VALIDITY_CEILING_MS)).toBe(now.publicKey);
      expect(await find(now.id, START + KEY_VALIDITY_CEILING_MS + 1)).toBeUndefined();
      expect(peer.asked).toHaveLength(1);
    });

    test('are good up to their end when they are old, and never for a request', async () => {
      expect(await find(old.id, START - DAY)).toBe(old.publicKey);
      expect(await find(old.id, START - DAY + 1)).toBeUndefined();
      expect(await keys.find('a.example', old.id)).toBeUndefined();
      expect(peer.asked).toHaveLength(1);
    });

    test.each(['ed25519:timeless', 'nonsense', 'ed25519:unknown'])('are not there under the id %s', async (id) =>
      expect(await find(id, START - DAY)).toBeUndefined(),
    );
  });

  test('forgets the peer fetched longest ago when it knows too many', async () => {
    const peer = new StubPeer(async () => buildDocument({ server: peer.asked.at(-1) ?? '' }));
    const keys = new ServerKeys(peer, { now: () => START, maxServers: 2 });
    for (const server of ['a', 'b', 'c', 'b', 'a']) await keys.find(server, 'ed25519:v1');
    expect(peer.asked).toEqual(['a', 'b', 'c', 'a']);
  });
});
