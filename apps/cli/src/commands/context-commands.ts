import { ClientError } from '../client/client-error.js';
import { parseServerAddress } from '../client/server-address.js';
import { contextOf } from '../config/choose-server.js';
import { checkContextName } from '../config/config.js';
import type { Session } from '../session.js';
import type { AddCommands } from './command-context.js';
import { newContext, readToken, withContext, withoutContext, type TokenFlags } from './new-context.js';

/** context list, use, add and remove. */
export const addContextCommands: AddCommands = (program, act) => {
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

async function add(session: Session, name: string, flags: TokenFlags): Promise<void> {
  checkContextName(name);
  const { server } = session.options;
  if (server === undefined) throw ClientError.usage('Name the server of the context with --server.');
  const { context } = newContext(session, parseServerAddress(server, '--server'), await readToken(session, flags));
  await session.configFile.change((config) => ({ current: name, ...withContext(config, name, context) }));
  session.output.note(`The context ${name} was added.`);
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
    return withoutContext(config, name);
  });
  output.note(`The context ${name} was removed. Its token stays valid until it is deleted in the service.`);
}
