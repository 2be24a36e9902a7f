import { decodeBase64 } from './base64.js';
import { signJson, verifySignedJson } from './signed-json.js';
import { SigningKey } from './signing-key.js';

const key = SigningKey.generate('ed25519:1');

describe('signJson', () => {
  test.each([
    [{}, 'K8280/U9SSy9IVtjBuVeLr+HpOB4BQFWbg+UZaADMtTdGYI7Geitb76LTrr5QV/7Xg4ahLwYGYZzuHGZKM5ZAQ'],
    [{ one: 1, two: 'Two' }, 'KqmLSbO39/Bzb0QIYE82zqLwsA+PDzYIpIRA2sRQ4sL53+sN6/fpNSoqE7BP7vBZhG6kYdD13EIMJpvhJI+6Bw'],
  ])('signs %j like the specification', (object, signature) => {
    const seed = decodeBase64('YJDBA9Xnr2sVqXD9Vj7XVUnmFZcZrlw8Md7kMW+3XA1') ?? Buffer.alloc(0);
    const { signatures } = signJson(object, 'domain', SigningKey.fromSeed('ed25519:1', seed));
    expect(signatures).toEqual({ domain: { 'ed25519:1': signature } });
  });

  test('signs everything except signatures and unsigned', () => {
    const signed = signJson({ a: 1, unsigned: { age: 5 }, signatures: { other: { 'ed25519:x': 'y' } } }, 'b', key);
    expect(verifySignedJson({ ...signed, unsigned: { age: 6 } }, 'b', key.id, key.publicKey)).toBe(true);
    expect(signed.signatures).toMatchObject({ other: { 'ed25519:x': 'y' } });
  });

  test('fails on a changed member, another server, a missing signature or a value without canonical form', () => {
    const signed = signJson({ a: 1 }, 'b', key);
    expect(verifySignedJson({ ...signed, a: 2 }, 'b', key.id, key.publicKey)).toBe(false);
    expect(verifySignedJson(signed, 'c', key.id, key.publicKey)).toBe(false);
    expect(verifySignedJson({ a: 1 }, 'b', key.id, key.publicKey)).toBe(false);
    expect(verifySignedJson({ ...signed, a: 1.5 }, 'b', key.id, key.publicKey)).toBe(false);
  });
});
