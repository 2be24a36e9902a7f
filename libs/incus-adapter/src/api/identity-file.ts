import { join } from 'node:path';

/** The key and the certificate, in the folder of an identity. */
export const IDENTITY_FILE = 'client.json';

/** The folder of the identity for a context, relative to the folder for its files. */
export const identityFolderOf = (context: string): string => join('incus', encodeURIComponent(context));

export const identityFileOf = (context: string): string => join(identityFolderOf(context), IDENTITY_FILE);
