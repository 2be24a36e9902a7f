import { readFileSync } from 'node:fs';
import { DomainError, type Clock } from '@headgate/domain-contracts';
import { OpenIdProvider } from '@headgate/login';
import { ConfigError } from '@headgate/nest-kit';
import type { LoginSection } from '../config/login-section.js';

/** The login providers of the configuration. Nothing is sent to them at the start. */
export class LoginProviders {
  readonly all: readonly OpenIdProvider[];

  /** @throws ConfigError for a file with a secret that can't be read */
  constructor({ login }: { readonly login?: LoginSection | undefined }, clock: Clock) {
    this.all = (login?.providers ?? []).map(
      ({ clientSecretFile, ...settings }, index) =>
        new OpenIdProvider(
          {
            ...settings,
            clientSecret: clientSecretFile === undefined ? undefined : readSecret(clientSecretFile, index),
          },
          clock,
        ),
    );
  }

  find(id: string): OpenIdProvider | undefined {
    return this.all.find(({ settings }) => settings.id === id);
  }

  /** @throws DomainError PATH_NOT_FOUND */
  expect(id: string): OpenIdProvider {
    const provider = this.find(id);
    if (provider) return provider;
    throw new DomainError('PATH_NOT_FOUND', `There is no login provider ${id.slice(0, 40)}.`);
  }
}

function readSecret(file: string, index: number): string {
  const field = `login.providers[${index}].clientSecretFile`;
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError('the configuration', [`${field}: ${file} can't be read (${code})`]);
  }
  if (text === '') throw new ConfigError('the configuration', [`${field}: ${file} is empty`]);
  return text;
}
