import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** 256 bits. */
const SECRET_BYTES = 32;

export const randomSecret = (): string => randomBytes(SECRET_BYTES).toString('base64url');

/** A fast hash is enough: unlike a password, the secret can't be guessed. */
export const hashSecret = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Whether a text has a hash. Digests have the same length, and comparing them reveals nothing about the secret. */
export const hasHash = (text: string, hash: string): boolean => {
  const [a, b] = [Buffer.from(hashSecret(text)), Buffer.from(hash)];
  return a.length === b.length && timingSafeEqual(a, b);
};
