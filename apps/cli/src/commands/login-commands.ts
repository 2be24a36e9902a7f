import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { WhoamiView } from '@headgate/api-contracts';
import { ApiClient } from '../client/api-client.js';
import { ClientError } from '../client/client-error.js';
import { HttpClient } from '../client/http-client.js';
import { addressOf, parseServerAddress, parseToken, refuseTokenInTheClear } from '../client/server-address.js';
import { checkContextName } from '../config/config.js';
import { EXIT_CODES } from '../exit-codes.js';
import { DeviceLogin } from '../login/device-login.js';
import { machineName } from '../login/machine-name.js';
import type { Session } from '../session.js';
import { canAsk } from '../terminal/prompt.js';
import type { AddCommands } from './command-context.js';
import { newContext, readToken, withContext, withoutContext, type TokenFlags } from './new-context.js';
import { parseCount } from './parse-option.js';

interface LoginFlags extends TokenFlags {
  readonly name?: string;
  readonly machine?: string;
  readonly actions?: readonly string[];
  readonly days?: number;
}

const MAX_ATTEMPTS = 5;
const RETRY_MS = 300;

const parseActions = (value: string): string[] => value.split(',').map((action) => action.trim());

/** login and logout. */
export const addLoginCommands: AddCommands = (program, act) => {
  program
    .command('login')
    .summary('log in to a service, and store it as a context')
    .description(
      'Shows a code, which you type on the page of the service to let this program act for you. The token is stored in a context that is used from now on. With --token-file or --token-stdin, tries and stores a token that an administrator has created.',
    )
    .argument('<server>', 'the address of the service')
    .option('--token-file <file>', 'read the token from a file')
    .option('--token-stdin', 'read the token from standard input')
    .option('--name <name>', 'the name of the context; by default, the host of the server')
    .option('--machine <name>', 'the name of this machine on the page; by default, its host name')
    .option('--actions <list>', 'what the program may do, such as read,power; by default, all', parseActions)
    .option('--days <number>', 'how many days the token is valid; by default 30, at most 90', parseCount)
    .action(act(login));
  program
    .command('logout')
    .summary('revoke the token of a login, and remove its context')
    .description(
      'Revokes the token that a login with a code has stored, and removes the context. Tokens that an administrator has created are left as they are: use "headgate context remove".',
    )
    .action(act(logout));
};

async function login(session: Session, server: string, flags: LoginFlags): Promise<void> {
  const url = parseServerAddress(server, 'The server');
  const name = flags.name ?? url.hostname.replace(/[^A-Za-z0-9._-]/g, '-').replace(/^[^A-Za-z0-9]+/, '');
  checkContextName(name);
  const given = await readToken(session, flags);
  if (given !== undefined && (flags.actions ?? flags.days ?? flags.machine) !== undefined)
    throw ClientError.usage('--actions, --days and --machine are for a login with a code: a token has its own.');
  // Also checks that the rest can be stored, before the user does anything.
  await session.configFile.read();
  const token = given ?? (await approvedToken(session, url, flags));
  const { context, access } = newContext(session, url, token);
  const caller = await whoamiWith(new ApiClient(new HttpClient(access, clientOptions(session))), given === undefined);
  if (caller.token === undefined)
    throw new ClientError(
      'TOKEN_NOT_USED',
      `${addressOf(url)} answers without using the token: it does not know API tokens. Nothing was stored.`,
      EXIT_CODES.refused,
    );
  await session.configFile.change((config) => ({ ...withContext(config, name, context), current: name }));
  session.output.note(`The context ${name} is used from now on.`);
}

const clientOptions = ({ version, options, environment }: Session) => ({
  version,
  timeoutMs: options.timeout * 1000,
  signal: environment.interrupted,
});

/** Another replica of the service may learn of a new token a moment later. */
async function whoamiWith(api: ApiClient, isNew: boolean): Promise<WhoamiView> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await api.get('/api/whoami');
    } catch (error) {
      const isUnknown = error instanceof ClientError && error.code === 'NOT_PERMITTED';
      if (!isNew || !isUnknown || attempt === MAX_ATTEMPTS) throw error;
      await delay(RETRY_MS);
    }
  }
}

/** A token that the user approves on the page of the service. */
async function approvedToken(
  session: Session,
  url: URL,
  { machine = machineName(hostname()), actions, days }: LoginFlags,
): Promise<string> {
  if (!canAsk(session.environment))
    throw ClientError.usage(
      'A login with a code needs a terminal, where you see the code. Without one, pass a token that an administrator has created with --token-file or --token-stdin, or set HEADGATE_TOKEN.',
    );
  const { access } = newContext(session, url, undefined);
  refuseTokenInTheClear({ ...access, token: 'of the login' }, false);
  const { output, environment } = session;
  const device = await DeviceLogin.begin(
    { machine, ...(actions && { actions }), ...(days !== undefined && { days }) },
    {
      http: new HttpClient(access, clientOptions(session)),
      interrupted: environment.interrupted,
      onLost: ({ message }) => output.note(`${message} Trying again.`),
    },
  );
  output.note(`Open this page in a browser in which you have logged in: ${device.pageUrl}`);
  output.note(`Type this code there, and compare what it lets in:  ${device.userCode}`);
  output.note('Waiting until you approve it. Ctrl-C ends the login.');
  const { token, name, expiresAt } = await device.approval();
  output.note(`Approved. The token is listed as ${name}, and valid until ${expiresAt}.`);
  return parseToken(token, 'The answer of the service');
}

async function logout(session: Session): Promise<void> {
  const { configFile, output, options } = session;
  const config = await configFile.read();
  const name = options.context ?? config.current;
  if (options.server !== undefined || name === undefined)
    throw ClientError.usage('A logout is for a context: name one with --context.');
  const api = await session.api();
  const { token } = await api.get('/api/whoami');
  const devices = token === undefined ? [] : await api.get('/api/ext/login/devices');
  if (!devices.some(({ id }) => id === token))
    throw new ClientError(
      'NOT_A_LOGIN',
      `The token of the context ${name} is not of a login with a code, so it was left as it is. "headgate context remove ${name}" forgets it.`,
      EXIT_CODES.refused,
    );
  await api.delete(`/api/ext/login/devices/${token ?? ''}`);
  await configFile.change((known) => withoutContext(known, name));
  output.note(`The token was revoked, and the context ${name} was removed.`);
}
