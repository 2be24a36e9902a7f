import { readFileSync } from 'node:fs';
import { ConfigError } from '@headgate/nest-kit';

/** Reads a file that the configuration names. @throws ConfigError that names the file when it cannot be read */
export function readNamedFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError(path, [`cannot be read: ${(error as Error).message}`]);
  }
}
