import { createHash } from 'node:crypto';

/** The stored form of a secret that only has to be recognized. */
export const digest = (secret: string): string => createHash('sha256').update(secret, 'utf8').digest('base64url');
