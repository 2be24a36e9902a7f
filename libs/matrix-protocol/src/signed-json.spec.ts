import { signJson, verifySignedJson } from './signed-json.js';
import { SigningKey } from './signing-key.js';

const key = SigningKey.generate('ed25519:1');

describe('signJson', () => {
  test('signs everything but the signatures and unsigned', () => {
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
