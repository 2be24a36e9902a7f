import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import { deriveKey } from './derive-key.js';
import type { KeyedRequest } from './keyed-request.js';

const compress = promisify(deflateRaw);
const expand = promisify(inflateRaw);

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** An object of a cluster has at most 1.5 MB, and a caller thousands of them. */
export const MAX_SEALED_CHARS = 64 * 1024;

/** The parts of an answer that are kept besides its status. */
export interface AnswerContent {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

type Seal = Pick<KeyedRequest, 'key' | 'scope'>;

/**
 * Encrypts an answer with a key that only the client knows, because answers contain secrets, such as API tokens:
 * AES-256-GCM over the compressed text, with the scope as additional data. The result is the nonce, the ciphertext and
 * the tag in Base64.
 * @returns undefined for an answer that is too large to be kept
 */
export async function sealAnswer(answer: AnswerContent, { key, scope }: Seal): Promise<string | undefined> {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, deriveKey(key, scope, 'answer'), nonce).setAAD(Buffer.from(scope));
  const plain = await compress(JSON.stringify(answer));
  const sealed = Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]).toString('base64');
  return sealed.length > MAX_SEALED_CHARS ? undefined : sealed;
}

/** @throws Error when it was changed since it was sealed */
export async function openAnswer(sealed: string, { key, scope }: Seal): Promise<AnswerContent> {
  const bytes = Buffer.from(sealed, 'base64');
  const [nonce, content, tag] = [
    bytes.subarray(0, NONCE_BYTES),
    bytes.subarray(NONCE_BYTES, -TAG_BYTES),
    bytes.subarray(-TAG_BYTES),
  ];
  const decipher = createDecipheriv(CIPHER, deriveKey(key, scope, 'answer'), nonce).setAAD(Buffer.from(scope));
  decipher.setAuthTag(tag);
  const plain = await expand(Buffer.concat([decipher.update(content), decipher.final()]));
  return JSON.parse(plain.toString()) as AnswerContent;
}
