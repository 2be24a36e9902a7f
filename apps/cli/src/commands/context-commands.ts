import { readFileSync } from 'node:fs';
import { ApiClient } from '../client/api-client.js';
import { ClientError } from '../client/client-error.js';
import { HttpClient } from '../client/http-client.js';
import { addressOf, parseServerAddress, parseToken, refuseTokenInTheClear } from '../client/server-address.js';
import { contextOf, readCertificates } from '../config/choose-server.js';
import { checkContextName, type Config, type ServerContext } from '../config/config.js';
import type { Session } from '../session.js';
import type { AddCommands } from './command-context.js';
import { EXIT_CODES } from '../exit-codes.js';
import { resolve } from 'node:path';

interface TokenFlags {
  readonly tokenFile?: string;
  readonly tokenStdin?: boolean;
}

interface LoginFlags extends TokenFlags {
  readonly name?: string;
}

/** context list, use, add and remove, and login. */
export const addContextCommands: AddCommands = (program, act) => {
  program
    .command('login')
    .summary('store a server with its token')
    .description(
      'Tries a token of a server, and stores both as a context that is used from now on. An administrator creates tokens. Services have no login with a device code yet.',
    )
    .argument('<server>', 'the address of the service')
    .option('--token-file <file>', 'read the token from a file')
    .option('--token-stdin', 'read the token from standard input')
    .option('--name <name>', 'the name of the context; by default, the host of the server')
    .action(act(login));
  const group = program.command('context').summary('list, use, add and remove contexts').alias('ctx');
  group.helpCommand(false).description('Contexts: services with their tokens, in a file that only you can read.');
  group.command('list').alias('ls').description('Lists the contexts, without their tokens.').action(act(list));
  group.command('use').description('Uses a context from now on.').argument('<name>').action(act(use));
  group
    .command('add')
    .description('Adds or replaces a context, without a request to its server. --server names the server.')
    .argument('<name>')
    .option('--token-file <file>', 'read the token from a file')
    .option('--token-stdin', 'read the token from standard input')
    .action(act(add));
  group
    .command('remove')
    .alias('rm')
    .description('Removes a context with its token.')
    .argument('<name>')
    .action(act(remove));
};

async function login(session: Session, server: string, flags: LoginFlags): Promise<void> {
  const url = parseServerAddress(server, 'The server');
  const name = flags.name ?? url.hostname.replace(/[^A-Za-z0-9._-]/g, '-').replace(/^[^A-Za-z0-9]+/, '');
  checkContextName(name);
  const token = await readToken(session, flags);
  if (token === undefined)
    throw ClientError.usage(
      'A login needs a token: create one in the settings of the page or with POST /api/ext/tokens, and pass it with --token-file or --token-stdin. Services have no login with a device code yet.',
    );
  const { context, access } = contextFor(session, url, token);
  const timeoutMs = session.options.timeout * 1000;
  const api = new ApiClient(new HttpClient(access, { version: session.version, timeoutMs }));
  const caller = await api.get('/api/whoami');
  if (caller.token === undefined)
    throw new ClientError(
      'TOKEN_NOT_USED',
      `${addressOf(url)} answers without using the token: it does not know API tokens. Nothing was stored.`,
      EXIT_CODES.refused,
    );
  await session.configFile.change((config) => ({ ...withContext(config, name, context), current: name }));
  session.output.note(`The context ${name} is used from now on.`);
}

async function add(session: Session, name: string, flags: TokenFlags): Promise<void> {
  checkContextName(name);
  const { server } = session.options;
  if (server === undefined) throw ClientError.usage('Name the server of the context with --server.');
  const { context } = contextFor(session, parseServerAddress(server, '--server'), await readToken(session, flags));
  await session.configFile.change((config) => ({ current: name, ...withContext(config, name, context) }));
  session.output.note(`The context ${name} was added.`);
}

function contextFor({ options }: Session, url: URL, token: string | undefined) {
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

const withContext = (config: Config, name: string, context: ServerContext): Config => ({
  ...config,
  contexts: { ...config.contexts, [name]: context },
});

async function readToken({ environment }: Session, flags: TokenFlags): Promise<string | undefined> {
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

async function list({ configFile, output }: Session): Promise<void> {
  const { contexts, current } = await configFile.read();
  const rows = Object.entries(contexts).map(([name, { server, token, cacert }]) => ({
    name,
    server,
    current: name === current,
    hasToken: token !== undefined,
    ...(cacert === undefined ? {} : { cacert }),
  }));
  await output.list(rows, {
    nameOf: ({ name }) => name,
    ifEmpty: 'There are no contexts. Add one with "headgate login".',
    columns: [
      { title: 'CURRENT', of: (row) => (row.current ? '*' : '') },
      { title: 'NAME', of: ({ name }) => name },
      { title: 'SERVER', of: ({ server }) => server },
      { title: 'TOKEN', of: ({ hasToken }) => (hasToken ? 'yes' : 'no') },
    ],
  });
}

async function use({ configFile, output }: Session, name: string): Promise<void> {
  await configFile.change((config) => {
    contextOf(config, name);
    return { ...config, current: name };
  });
  output.note(`The context ${name} is used from now on.`);
}

async function remove({ configFile, output }: Session, name: string): Promise<void> {
  await configFile.change((config) => {
    contextOf(config, name);
    const { [name]: _removed, ...contexts } = config.contexts;
    const { current, ...others } = config;
    return { ...others, contexts, ...(current === undefined || current === name ? {} : { current }) };
  });
  output.note(`The context ${name} was removed. Its token stays valid until it is deleted in the service.`);
}
