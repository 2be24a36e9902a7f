import { decodeBase64 } from './base64.js';
import { isServerName } from './identifiers.js';
import { isKeyId, SigningKey } from './signing-key.js';
import { Random } from './testing/random.js';
import { type FederationRequest, parseXMatrix, signedRequest, signXMatrix, verifyXMatrix } from './x-matrix.js';

const seed = decodeBase64('AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8') ?? Buffer.alloc(0);
const key = SigningKey.fromSeed('ed25519:v1', seed);
const PUBLIC = 'A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg';

const put: FederationRequest = {
  method: 'PUT',
  uri: '/_matrix/federation/v1/send/t%2D1',
  origin: 'a.example',
  destination: 'b.example',
  content: { origin: 'a.example', origin_server_ts: 1700000000000, pdus: [], edus: [] },
};
const putSig = 'O4orTiymXMxg2X14sVN/fsfxQMbjqxK6Rq/a53ZUHbCUazpIOS5AZHl0VGvFYqliQIVoupkuFNvulgtLonXMAQ';
const get: FederationRequest = {
  method: 'GET',
  uri: '/_matrix/federation/v1/version?x=1',
  origin: 'a.example',
  destination: 'b.example',
};
const getSig = 'W9Oo0QVEB1HPKPca5nml5RZX6YwyI4Bu1g6k7H4BG0nXETtOxN3/xJv/5Cr8ZXsIXz5HhVuobA0/tPb+Yz5cDQ';

describe('X-Matrix', () => {
  test('derives the public key from the seed', () => expect(key.publicKey).toBe(PUBLIC));

  test('signs the canonical form of a request with a body', () => {
    expect(signedRequest(put)).toBe(
      '{"content":{"edus":[],"origin":"a.example","origin_server_ts":1700000000000,"pdus":[]},"destination":"b.example","method":"PUT","origin":"a.example","uri":"/_matrix/federation/v1/send/t%2D1"}',
    );
    expect(key.sign(signedRequest(put))).toBe(putSig);
  });

  test('signs the canonical form of a request without a body', () => {
    expect(signedRequest(get)).toBe(
      '{"destination":"b.example","method":"GET","origin":"a.example","uri":"/_matrix/federation/v1/version?x=1"}',
    );
    expect(key.sign(signedRequest(get))).toBe(getSig);
  });

  test('verifies its own signature, and nothing else', () => {
    const header = parseXMatrix(signXMatrix(put, key));
    expect(header).toEqual({ origin: 'a.example', destination: 'b.example', key: 'ed25519:v1', sig: putSig });
    if (!header) return;
    expect(verifyXMatrix(header, put, PUBLIC)).toBe(true);
    expect(verifyXMatrix(header, { ...put, uri: '/_matrix/federation/v1/send/t-1' }, PUBLIC)).toBe(false);
    expect(verifyXMatrix(header, { ...put, destination: 'c.example' }, PUBLIC)).toBe(false);
    expect(verifyXMatrix(header, { ...put, content: {} }, PUBLIC)).toBe(false);
    expect(verifyXMatrix(header, { ...put, content: { n: 1.5 } }, PUBLIC)).toBe(false);
    expect(verifyXMatrix({ ...header, sig: getSig }, put, PUBLIC)).toBe(false);
    expect(verifyXMatrix({ ...header, sig: 'AAAA' }, put, PUBLIC)).toBe(false);
    expect(verifyXMatrix(header, put, 'not a key')).toBe(false);
  });

  test.each([
    [`X-Matrix origin="a.example",destination="b.example",key="ed25519:v1",sig="${getSig}"`],
    [`X-Matrix   Origin=a.example , KEY=ed25519:v1 ,sig="${getSig}", destination="b\\.example", extra=1`],
    [`x-matrix\torigin=a.example,key="ed25519:v1",\tsig=${getSig},destination=b.example`],
  ])('parses %s', (header) => {
    expect(parseXMatrix(header)).toEqual({
      origin: 'a.example',
      destination: 'b.example',
      key: 'ed25519:v1',
      sig: getSig,
    });
  });

  test('parses a header without a destination', () => {
    expect(parseXMatrix('X-Matrix origin=a.example,key=ed25519:v1,sig=x')).toEqual({
      origin: 'a.example',
      key: 'ed25519:v1',
      sig: 'x',
    });
  });

  test.each([
    ['Bearer abc'],
    ['X-Matrix'],
    ['X-Matrix origin=a.example,key=ed25519:v1'],
    ['X-Matrix origin="a b",key=ed25519:v1,sig=x'],
    ['X-Matrix origin=a.example,origin=b.example,key=ed25519:v1,sig=x'],
    ['X-Matrix origin=a.example,key=rsa:1,sig=x'],
    ['X-Matrix origin="a.example,key=ed25519:v1,sig=x'],
    ['X-Matrix origin=a.example;key=ed25519:v1;sig=x'],
  ])('refuses %s', (header) => expect(parseXMatrix(header)).toBeUndefined());
});

describe.each([1, 2, 3, 4])('random X-Matrix headers (seed %i)', (seed) => {
  const random = new Random(seed);
  const blank = () => random.text(' \t', 2);
  const anyCase = (text: string) => [...text].map((c) => random.pick([c.toLowerCase(), c.toUpperCase()])).join('');
  const quoted = (text: string) => `"${[...text].map((c) => (random.below(5) === 0 ? `\\${c}` : c)).join('')}"`;
  const written = (value: string) => (/[,\s"]/.test(value) || random.below(2) ? quoted(value) : value);
  const server = () =>
    random.pick(['a.example', 'A.example:8448', '[::1]:80', '[2001:db8::1]', '10.0.0.1', 'localhost']);
  const anyHeader = () => {
    const expected = {
      origin: server(),
      ...(random.below(4) > 0 && { destination: server() }),
      key: `ed25519:${random.pick(['1', 'a_B9', 'auto'])}`,
      sig: random.pick([putSig, getSig]),
    };
    const others = random.pick([[], [['extra', 'x']], [['x-1', 'a b']]]) as [string, string][];
    const parameters = random
      .shuffle([...Object.entries(expected), ...others])
      .map(([name, value]) => `${blank()}${anyCase(name)}=${written(value)}${blank()}`);
    return { expected, text: `${anyCase('X-Matrix')} ${parameters.join(',')}` };
  };

  test('are parsed correctly', () => {
    for (let i = 0; i < 500; i++) {
      const { expected, text } = anyHeader();
      expect([text, parseXMatrix(text)]).toEqual([text, expected]);
    }
  });

  test('are refused if a parameter is repeated, in any case', () => {
    for (let i = 0; i < 200; i++) {
      const { expected, text } = anyHeader();
      const name = random.pick(Object.keys(expected));
      expect(parseXMatrix(`${text},${anyCase(name)}="a.example"`)).toBeUndefined();
    }
  });

  test('are valid or refused if they are damaged', () => {
    for (let i = 0; i < 2000; i++) {
      const { text } = anyHeader();
      const at = random.below(text.length);
      const damaged =
        text.slice(0, at) + random.pick(['', '"', ',', '=', '\\', ' ', ';', '\u00e9']) + text.slice(at + 1);
      const header = parseXMatrix(damaged);
      if (!header) continue;
      expect(isServerName(header.origin) && isKeyId(header.key) && header.sig !== '').toBe(true);
      expect(header.destination === undefined || isServerName(header.destination)).toBe(true);
    }
  });
});

test('a malicious X-Matrix header is parsed quickly', () => {
  for (const evil of [
    `X-Matrix ${'a="'.repeat(20_000)}`,
    `X-Matrix a="${'\\'.repeat(50_000)}`,
    `X-Matrix ${' '.repeat(50_000)}=`,
  ]) {
    expect(parseXMatrix(evil)).toBeUndefined();
  }
});
