import { ConfigError } from '@headgate/nest-kit';
import { readNamedFile } from './read-file.js';
import type { SharedSection } from './shared.section.js';

/** The environment variable of the secret that keys the digests of names and addresses, instead of a file. */
const SECRET_VARIABLE = 'LIMITS_SHARED_SECRET';
const MIN_SECRET_LENGTH = 16;

/**
 * The secret of all gateways that share windows; undefined if they have none.
 * @throws ConfigError that names a file that cannot be read, or a secret that is too short. It never contains the
 *   secret.
 */
export function sharedSecret(
  { secret_file }: Readonly<SharedSection>,
  inEnvironment = process.env[SECRET_VARIABLE] ?? '',
): string | undefined {
  if (secret_file === undefined && inEnvironment === '') return undefined;
  if (secret_file !== undefined && inEnvironment !== '') {
    throw new ConfigError('configuration', [`shared.secret_file and ${SECRET_VARIABLE} both have a secret`]);
  }
  const secret = secret_file === undefined ? inEnvironment : firstLineOf(secret_file);
  if (secret.length >= MIN_SECRET_LENGTH) return secret;
  const source = secret_file ?? SECRET_VARIABLE;
  throw new ConfigError(source, [`the secret must be at least ${MIN_SECRET_LENGTH} characters`]);
}

/** The first line of a file. @throws ConfigError that names a file that cannot be read */
export const firstLineOf = (path: string): string => readNamedFile(path).split(/\r?\n/, 1)[0] ?? '';
