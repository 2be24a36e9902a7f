import { readFileSync } from 'node:fs';
import { LoginKeys } from '@headgate/login';
import { ConfigError } from '@headgate/nest-kit';
import type { LoginSection } from '../config/login-section.js';

/** 256 bits have 43 characters in Base64. */
const MIN_CHARS = 43;

/** The keys in the file that the replicas have; without one, keys of this process. @throws ConfigError */
export function loadLoginKeys({ login }: { readonly login?: LoginSection | undefined }): LoginKeys {
  const file = login?.keyFile;
  if (file === undefined) return new LoginKeys();
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError('the configuration', [`login.keyFile: ${file} can't be read (${code})`]);
  }
  if (text.length < MIN_CHARS)
    throw new ConfigError('the configuration', [
      `login.keyFile: ${file} must have at least ${MIN_CHARS} random characters; create it with "openssl rand -base64 32"`,
    ]);
  return new LoginKeys(Buffer.from(text));
}
