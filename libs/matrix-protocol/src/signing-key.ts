import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import { encodeBase64 } from './base64.js';

// Node takes raw Ed25519 keys inside their ASN.1 wrappings only (RFC 8410); these are the wrappings.
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');
const RAW_LENGTH = 32;

/** An Ed25519 key that signs for a server, and the id under which peers look it up. */
export class SigningKey {
  readonly publicKey: string;

  private constructor(
    readonly id: string,
    private readonly key: KeyObject,
    readonly seed: Buffer,
  ) {
    const spki = createPublicKey(key).export({ format: 'der', type: 'spki' });
    this.publicKey = encodeBase64(spki.subarray(-RAW_LENGTH));
  }

  /** @param id `ed25519:version`; @param seed 32 bytes */
  static fromSeed(id: string, seed: Buffer): SigningKey {
    if (!isKeyId(id)) throw new Error(`${id} is no Ed25519 key id`);
    if (seed.length !== RAW_LENGTH) throw new Error('an Ed25519 seed has 32 bytes');
    const key = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' });
    return new SigningKey(id, key, seed);
  }

  static generate(id: string): SigningKey {
    const { privateKey } = generateKeyPairSync('ed25519');
    return SigningKey.fromSeed(id, privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-RAW_LENGTH));
  }

  /** The signature in unpadded base64. */
  sign(text: string): string {
    return encodeBase64(sign(null, Buffer.from(text, 'utf8'), this.key));
  }
}

export const isKeyId = (text: unknown): text is string =>
  typeof text === 'string' && /^ed25519:[a-zA-Z0-9_]+$/.test(text);

/** Whether the raw public key (32 bytes) made this signature (64 bytes) over the text. */
export function verifyEd25519(publicKey: Buffer | undefined, signature: Buffer | undefined, text: string): boolean {
  if (publicKey?.length !== RAW_LENGTH || signature?.length !== 2 * RAW_LENGTH) return false;
  const key = createPublicKey({ key: Buffer.concat([SPKI_PREFIX, publicKey]), format: 'der', type: 'spki' });
  return verify(null, Buffer.from(text, 'utf8'), key, signature);
}
