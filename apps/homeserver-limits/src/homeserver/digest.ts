import { createHash } from 'node:crypto';

/** What is kept of a secret that only has to be recognised. */
export const digest = (secret: string): string => createHash('sha256').update(secret, 'utf8').digest('base64url');
