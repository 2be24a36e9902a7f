import { createHash, createPublicKey, verify, type KeyObject } from 'node:crypto';

/** The publishers that the operator trusts: name → public key. */
export type PublisherKeys = ReadonlyMap<string, KeyObject>;

interface Statement {
  readonly name: string;
  readonly version: string;
  readonly digest: string;
}

/**
 * The text that a publisher signs. It contains name and version, so that an index can't offer an archive under another
 * name, or an old archive as a new version.
 */
export const signedStatement = ({ name, version, digest }: Statement): Buffer =>
  Buffer.from(`headgate-plugin 1\n${name}\n${version}\n${digest}\n`);

/**
 * @param text the public key in Base64: DER, SubjectPublicKeyInfo
 * @throws Error unless it is an Ed25519 key
 */
export function parsePublicKey(text: string): KeyObject {
  const key = createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' });
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('the key is not an Ed25519 key');
  return key;
}

/** Whether the signature, in Base64, is that of the key. */
export const isSignedBy = (key: KeyObject, statement: Statement, signature: string): boolean =>
  verify(null, signedStatement(statement), key, Buffer.from(signature, 'base64'));

/** The digest of an archive with the algorithm of the expected one. */
export function digestOf(archive: Buffer, expected: string): string {
  const algorithm = expected.split(':', 1)[0] ?? '';
  return `${algorithm}:${createHash(algorithm).update(archive).digest('hex')}`;
}
