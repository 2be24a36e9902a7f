import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import { encodeBase64 } from './base64.js';

// Node only accepts Ed25519 keys with their ASN.1 wrapping (RFC 8410).
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');
const RAW_BYTES = 32;

/** A server's Ed25519 signing key and its ID. */
export class SigningKey {
  readonly publicKey: string;

  private constructor(
    readonly id: string,
    private readonly key: KeyObject,
    readonly seed: Buffer,
  ) {
    const spki = createPublicKey(key).export({ format: 'der', type: 'spki' });
    this.publicKey = encodeBase64(spki.subarray(-RAW_BYTES));
  }

  /** @param id `ed25519:version`; @param seed 32 bytes */
  static fromSeed(id: string, seed: Buffer): SigningKey {
    if (!isKeyId(id)) throw new Error(`${id} is not the ID of an Ed25519 key`);
    if (seed.length !== RAW_BYTES) throw new Error('an Ed25519 seed must have 32 bytes');
    const key = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' });
    return new SigningKey(id, key, seed);
  }

  static generate(id: string): SigningKey {
    const { privateKey } = generateKeyPairSync('ed25519');
    return SigningKey.fromSeed(id, privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-RAW_BYTES));
  }

  /** The signature in unpadded base64. */
  sign(text: string): string {
    return encodeBase64(sign(null, Buffer.from(text, 'utf8'), this.key));
  }
}

export const isKeyId = (text: unknown): text is string =>
  typeof text === 'string' && /^ed25519:[a-zA-Z0-9_]+$/.test(text);

/** Verifies a signature (64 bytes) over a text with a raw public key (32 bytes). */
export function verifyEd25519(publicKey: Buffer | undefined, signature: Buffer | undefined, text: string): boolean {
  if (publicKey?.length !== RAW_BYTES || signature?.length !== 2 * RAW_BYTES) return false;
  const key = createPublicKey({ key: Buffer.concat([SPKI_PREFIX, publicKey]), format: 'der', type: 'spki' });
  return verify(null, Buffer.from(text, 'utf8'), key, signature);
}
