import { decodeBase64 } from './base64.js';
import { SigningKey } from './signing-key.js';
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

  test('verifies what it signed, and nothing else', () => {
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
  ])('reads %s', (header) => {
    expect(parseXMatrix(header)).toEqual({
      origin: 'a.example',
      destination: 'b.example',
      key: 'ed25519:v1',
      sig: getSig,
    });
  });

  test('reads a header without destination', () => {
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
