import { readFileSync } from 'node:fs';
import { ClientError } from '../client/client-error.js';
import {
  LOCAL_SERVER,
  parseServerAddress,
  parseToken,
  refuseTokenInTheClear,
  type ServerAccess,
} from '../client/server-address.js';
import { EXIT_CODES } from '../exit-codes.js';
import type { Config, ServerContext } from './config.js';

export interface ServerOptions {
  readonly context?: string;
  readonly server?: string;
  readonly cacert?: string;
  readonly insecureHttp?: boolean;
}

export interface ChosenServer {
  readonly access: ServerAccess;
  /** Where the address comes from: a name of a context, or the setting. */
  readonly source: string;
  /** Said to the user before the request. */
  readonly notes: readonly string[];
}

/**
 * The service to use: that of `--server`, of the context, of HEADGATE_SERVER, of the current context, or the one of
 * this machine. A token is only sent to the server that it was given for: that of a context to its server, and
 * HEADGATE_TOKEN to the others.
 */
export function chooseServer(
  options: ServerOptions,
  env: Readonly<Record<string, string | undefined>>,
  config: Config,
): ChosenServer {
  if (options.server !== undefined && options.context !== undefined)
    throw ClientError.usage('Use either --server or --context: a context has its own server.');
  const { source, settings } = settingsOf(options, env, config);
  const insecureHttp = options.insecureHttp ?? settings.insecureHttp ?? false;
  const cacert = options.cacert ?? settings.cacert;
  const access: ServerAccess = {
    url: parseServerAddress(settings.server, source),
    ...(settings.token === undefined ? {} : { token: settings.token }),
    ...(cacert === undefined ? {} : { ca: readCertificates(cacert) }),
  };
  refuseTokenInTheClear(access, insecureHttp);
  const isIgnored = env['HEADGATE_TOKEN'] && source.startsWith('the context');
  return {
    access,
    source,
    notes: isIgnored ? [`HEADGATE_TOKEN is not used: ${source} has its own token or none.`] : [],
  };
}

function settingsOf(
  { server, context }: ServerOptions,
  env: Readonly<Record<string, string | undefined>>,
  config: Config,
): { source: string; settings: ServerContext } {
  const variable = env['HEADGATE_SERVER'] || undefined;
  const ofEnvironment = env['HEADGATE_TOKEN'] || undefined;
  const token = ofEnvironment === undefined ? {} : { token: parseToken(ofEnvironment, 'HEADGATE_TOKEN') };
  if (server !== undefined) return { source: '--server', settings: { server, ...token } };
  if (context !== undefined) return { source: `the context ${context}`, settings: contextOf(config, context) };
  if (variable !== undefined) return { source: 'HEADGATE_SERVER', settings: { server: variable, ...token } };
  if (config.current !== undefined)
    return { source: `the context ${config.current}`, settings: contextOf(config, config.current) };
  return { source: 'this machine', settings: { server: LOCAL_SERVER, ...token } };
}

/** @throws ClientError that lists the contexts */
export function contextOf({ contexts }: Config, name: string): ServerContext {
  const found = Object.hasOwn(contexts, name) ? contexts[name] : undefined;
  if (found) return found;
  const names = Object.keys(contexts);
  const known = names.length > 0 ? `There are: ${names.join(', ')}.` : 'Add one with "headgate login".';
  throw new ClientError('NO_SUCH_CONTEXT', `There is no context "${name}". ${known}`, EXIT_CODES.notFound);
}

/** @throws ClientError for a file without certificates */
export function readCertificates(path: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw ClientError.usage(`${path} can not be read (${(error as NodeJS.ErrnoException).code}).`);
  }
  if (!text.includes('-----BEGIN CERTIFICATE-----'))
    throw ClientError.usage(`${path} must contain certificates in PEM: "-----BEGIN CERTIFICATE-----".`);
  return text;
}
