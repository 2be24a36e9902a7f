import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { CatalogEntry } from '@headgate/domain-contracts';
import { BACKEND_KINDS } from '../engines/backend-kinds.js';
import type { CommandLine } from './command-line.js';
import type { SettingsOfKinds } from './context-settings.js';
import { readCatalog } from './read-catalog.js';
import { ConfigError, parseServiceConfig, type ServiceConfig } from './service-config.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The complete configuration: the file, overridden by the environment, overridden by the command line. */
export type Settings = Readonly<ServiceConfig> & {
  readonly dataDir: string;
  /** The entries of the catalog file. */
  readonly catalog: readonly CatalogEntry[];
};

/**
 * @param kinds the kinds of backends that parse the settings of their contexts
 * @throws ConfigError when the file can't be read or a value is invalid
 */
export function loadSettings(options: CommandLine, env: Environment, kinds: SettingsOfKinds = BACKEND_KINDS): Settings {
  const file = options.config === undefined ? {} : readYaml(options.config);
  const source = options.config ?? 'the command line and environment';
  const raw = {
    ...file,
    ...(env['SVC_ADMINS'] === undefined ? {} : { admins: words(env['SVC_ADMINS']) }),
    ...(env['SVC_TRUSTED_PROXIES'] === undefined ? {} : { trustedProxies: words(env['SVC_TRUSTED_PROXIES']) }),
    ...(env['SVC_TRUSTED_UIDS'] === undefined ? {} : { trustedUids: words(env['SVC_TRUSTED_UIDS']).map(toUid) }),
    ...(env['SVC_ALLOWED_HOSTS'] === undefined ? {} : { allowedHosts: words(env['SVC_ALLOWED_HOSTS']) }),
    ...(env['SVC_IMPORT_ALLOW'] === undefined ? {} : { importAllow: words(env['SVC_IMPORT_ALLOW']) }),
    ...(env['SVC_WEBHOOK_ALLOW'] === undefined ? {} : { webhookAllow: words(env['SVC_WEBHOOK_ALLOW']) }),
    ...(options.listen === undefined ? {} : { listen: options.listen }),
    ...(options.dataDir === undefined ? {} : { dataDir: options.dataDir }),
    ...(options.metrics ? { metrics: true } : {}),
    ...(options.open ? { open: true } : {}),
    ...(options.login ? { login: { ...(file['login'] as object | undefined) } } : {}),
    ...(options.tls ? { tls: { ...(file['tls'] as object | undefined), ...options.tls } } : {}),
  };
  const config = parseServiceConfig(raw, source, kinds);
  return Object.freeze({
    ...config,
    dataDir: config.dataDir ?? defaultDataDir(env),
    catalog: readCatalog(config.catalogFile),
  });
}

/** Splits at commas or white space, as the contract defines for SVC_ADMINS. */
export const words = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

/** A word that is not a number stays one, so that the validation names it. */
const toUid = (word: string): number | string => (/^\d+$/.test(word) ? Number(word) : word);

function defaultDataDir(env: Environment): string {
  if (process.getuid?.() === 0) return '/var/lib/headgate';
  return join(env['XDG_DATA_HOME'] || join(homedir(), '.local/share'), 'headgate');
}

function readYaml(file: string): Record<string, unknown> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError(file, [`the file can't be read (${(error as NodeJS.ErrnoException).code})`]);
  }
  let value: unknown;
  try {
    value = parse(text) ?? {};
  } catch (error) {
    throw new ConfigError(file, [`it is not YAML: ${(error as Error).message.split('\n')[0]}`]);
  }
  if (typeof value !== 'object' || Array.isArray(value)) throw new ConfigError(file, ['it must hold keys and values']);
  return value as Record<string, unknown>;
}
