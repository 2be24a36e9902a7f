import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { ClientError } from '../client/client-error.js';
import { addressOf, parseToken, refuseTokenInTheClear } from '../client/server-address.js';
import { readCertificates } from '../config/choose-server.js';
import type { Config, ServerContext } from '../config/config.js';
import type { Session } from '../session.js';

export interface TokenFlags {
  readonly tokenFile?: string;
  readonly tokenStdin?: boolean;
}

/** A context, and how its server is reached. @throws ClientError if the token could be read on its way */
export function newContext({ options }: Session, url: URL, token: string | undefined) {
  const { insecureHttp } = options;
  // The file is also used from other folders.
  const cacert = options.cacert === undefined ? undefined : resolve(options.cacert);
  const access = {
    url,
    ...(token === undefined ? {} : { token }),
    ...(cacert === undefined ? {} : { ca: readCertificates(cacert) }),
  };
  refuseTokenInTheClear(access, insecureHttp ?? false);
  const context: ServerContext = {
    server: addressOf(url),
    ...(token === undefined ? {} : { token }),
    ...(cacert === undefined ? {} : { cacert }),
    ...(insecureHttp === undefined ? {} : { insecureHttp }),
  };
  return { context, access };
}

/** The configuration with a context. */
export const withContext = (config: Config, name: string, context: ServerContext): Config => ({
  ...config,
  contexts: { ...config.contexts, [name]: context },
});

/** The configuration without a context, which is not used from now on. */
export function withoutContext({ current, ...config }: Config, name: string): Config {
  const { [name]: _removed, ...contexts } = config.contexts;
  return { ...config, contexts, ...(current === undefined || current === name ? {} : { current }) };
}

/** The token of the options; undefined without one. */
export async function readToken({ environment }: Session, flags: TokenFlags): Promise<string | undefined> {
  if (flags.tokenFile !== undefined && flags.tokenStdin)
    throw ClientError.usage('Use either --token-file or --token-stdin.');
  if (flags.tokenFile !== undefined) return parseToken(readText(flags.tokenFile), flags.tokenFile);
  if (!flags.tokenStdin) return undefined;
  let text = '';
  for await (const part of environment.stdin.setEncoding('utf8')) text += String(part);
  return parseToken(text, 'Standard input');
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw ClientError.usage(`${path} can not be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}
