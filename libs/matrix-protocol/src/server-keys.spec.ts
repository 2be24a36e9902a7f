import { MAX_KEY_VALIDITY_MS, readServerKeyDocument } from './server-key-document.js';
import { ServerKeys, ServerKeySource } from './server-keys.js';
import { signJson } from './signed-json.js';
import { SigningKey } from './signing-key.js';
import { Random } from './testing/random.js';

const DAY_MS = 24 * 60 * 60 * 1000;
const START = 1_700_000_000_000;

function buildDocument({
  server = 'a.example',
  key = SigningKey.generate('ed25519:v1'),
  validUntil = START + DAY_MS,
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
  test('trusts a document for at most seven days, whatever the peer claims', () => {
    const centuries = buildDocument({ validUntil: START + 36_500 * DAY_MS });
    expect(readServerKeyDocument(centuries, 'a.example', START).validUntil).toBe(START + MAX_KEY_VALIDITY_MS);
  });

  test('trusts a document only as long as a shorter claim', () => {
    const oneDay = buildDocument({ validUntil: START + DAY_MS });
    expect(readServerKeyDocument(oneDay, 'a.example', START).validUntil).toBe(START + DAY_MS);
  });

  test.each([1, 2, 3])(
    'trusts a document for the claimed time or seven days, whichever is shorter (seed %i)',
    (seed) => {
      const random = new Random(seed);
      for (let i = 0; i < 50; i++) {
        const now = START + random.below(1e9) * 1000;
        const claimed = now + 1 + random.below(2 ** 32) * random.pick([1, 5, 100_000]);
        const { validUntil } = readServerKeyDocument(buildDocument({ validUntil: claimed }), 'a.example', now);
        expect(validUntil).toBe(claimed - now < MAX_KEY_VALIDITY_MS ? claimed : now + MAX_KEY_VALIDITY_MS);
      }
    },
  );

  test('requires the signature of every listed key, and skips unknown algorithms', () => {
    const [one, two] = [SigningKey.generate('ed25519:one'), SigningKey.generate('ed25519:two')];
    const verify_keys = {
      [one.id]: { key: one.publicKey },
      [two.id]: { key: two.publicKey },
      'other:1': { key: 'whatever' },
    };
    const document = { server_name: 'a.example', verify_keys, valid_until_ts: START + DAY_MS };
    const both = signJson(signJson(document, 'a.example', one), 'a.example', two);
    expect([...readServerKeyDocument(both, 'a.example', START).verifyKeys.keys()]).toEqual([one.id, two.id]);
    const half = signJson(document, 'a.example', one);
    expect(() => readServerKeyDocument(half, 'a.example', START)).toThrow('ed25519:two has not signed');
  });

  test('refuses a document that is of another server, unsigned, expired, or signed by another key', () => {
    const good = buildDocument();
    const { signatures: _signatures, ...unsigned } = good;
    const other = buildDocument();
    const read = (raw: unknown) => () => readServerKeyDocument(raw, 'a.example', START);
    expect(read(buildDocument({ server: 'b.example' }))).toThrow('is not from');
    expect(read(unsigned)).toThrow('has not signed');
    expect(read({ ...good, verify_keys: other.verify_keys })).toThrow('has not signed');
    expect(read(buildDocument({ validUntil: START }))).toThrow('has expired');
    expect(read({ ...good, verify_keys: {} })).toThrow('no Ed25519 key');
    expect(read({ ...good, valid_until_ts: 'soon' })).toThrow('valid_until_ts');
    expect(read([])).toThrow('is not from');
  });
});

describe('ServerKeys', () => {
  test('fetches again after seven days although the peer claimed a century', async () => {
    let now = START;
    const key = SigningKey.generate('ed25519:v1');
    const peer = new StubPeer(async () => buildDocument({ key, validUntil: START + 36_500 * DAY_MS }));
    const keys = new ServerKeys(peer, { now: () => now });

    expect(await keys.find('a.example', 'ed25519:v1')).toBe(key.publicKey);
    now = START + MAX_KEY_VALIDITY_MS - 1;
    expect(await keys.find('a.example', 'ed25519:v1')).toBe(key.publicKey);
    expect(peer.asked).toHaveLength(1);

    now = START + MAX_KEY_VALIDITY_MS;
    expect(await keys.find('a.example', 'ed25519:v1')).toBe(key.publicKey);
    expect(peer.asked).toHaveLength(2);
  });

  test('does not trust an expired document if the peer is unreachable', async () => {
    let now = START;
    const peer = new StubPeer(async () => buildDocument({ validUntil: START + DAY_MS }));
    const keys = new ServerKeys(peer, { now: () => now });
    await keys.find('a.example', 'ed25519:v1');
    peer.answer = () => Promise.reject(new Error('unreachable'));
    now = START + DAY_MS;
    expect(await keys.find('a.example', 'ed25519:v1')).toBeUndefined();
  });

  test('shares one fetch between parallel misses', async () => {
    const peer = new StubPeer(async () => buildDocument());
    const keys = new ServerKeys(peer, { now: () => START });
    await Promise.all(Array.from({ length: 50 }, () => keys.find('a.example', 'ed25519:v1')));
    expect(peer.asked).toHaveLength(1);
  });

  test('fetches on every miss of an unknown key ID by default', async () => {
    const peer = new StubPeer(async () => buildDocument());
    const keys = new ServerKeys(peer, { now: () => START });
    for (let i = 0; i < 5; i++) expect(await keys.find('a.example', `ed25519:no${i}`)).toBeUndefined();
    for (let i = 0; i < 5; i++) expect(await keys.find('a.example', 'ed25519:no')).toBeUndefined();
    expect(peer.asked).toHaveLength(10);
  });

  test('caches a miss for retryAfterMs', async () => {
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
    const [current, old] = [SigningKey.generate('ed25519:now'), SigningKey.generate('ed25519:old')];
    const document = {
      server_name: 'a.example',
      verify_keys: { [current.id]: { key: current.publicKey } },
      old_verify_keys: {
        [old.id]: { key: old.publicKey, expired_ts: START - DAY_MS },
        'ed25519:timeless': { key: 'x' },
        nonsense: { key: 'x', expired_ts: START },
      },
      valid_until_ts: START + 30 * DAY_MS,
    };
    let peer: StubPeer;
    let keys: ServerKeys;
    beforeEach(() => {
      peer = new StubPeer(async () => signJson(document, 'a.example', current));
      keys = new ServerKeys(peer, { now: () => START });
    });
    const find = (id: string, sentAt: number) => keys.findForEvent('a.example', id, sentAt);

    test('are valid until the document expires', async () => {
      expect(await find(current.id, START - 1000 * DAY_MS)).toBe(current.publicKey);
      expect(await find(current.id, START + MAX_KEY_VALIDITY_MS)).toBe(current.publicKey);
      expect(await find(current.id, START + MAX_KEY_VALIDITY_MS + 1)).toBeUndefined();
      expect(peer.asked).toHaveLength(1);
    });

    test('are valid until they expired if they are old, and never for a request', async () => {
      expect(await find(old.id, START - DAY_MS)).toBe(old.publicKey);
      expect(await find(old.id, START - DAY_MS + 1)).toBeUndefined();
      expect(await keys.find('a.example', old.id)).toBeUndefined();
      expect(peer.asked).toHaveLength(1);
    });

    test.each(['ed25519:timeless', 'nonsense', 'ed25519:unknown'])('do not include the ID %s', async (id) =>
      expect(await find(id, START - DAY_MS)).toBeUndefined(),
    );
  });

  test('drops the peer fetched longest ago when the cache is full', async () => {
    const peer = new StubPeer(async () => buildDocument({ server: peer.asked.at(-1) ?? '' }));
    const keys = new ServerKeys(peer, { now: () => START, maxServers: 2 });
    for (const server of ['a', 'b', 'c', 'b', 'a']) await keys.find(server, 'ed25519:v1');
    expect(peer.asked).toEqual(['a', 'b', 'c', 'a']);
  });
});
