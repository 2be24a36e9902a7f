import { findAddress } from '../instances/find-instance.js';
import { ctExtension } from '../instances/instance.js';
import { networkFailure } from '../client/network-failure.js';
import { ClientError } from '../client/client-error.js';
import { EXIT_CODES } from '../exit-codes.js';
import type { Session } from '../session.js';
import { interruption } from '../terminal/prompt.js';
import { printableLines } from '../terminal/printable.js';
import type { AddCommands } from './command-context.js';
import { parseCount } from './parse-option.js';

interface Flags {
  readonly follow?: boolean;
  readonly tail?: number;
  readonly since?: string;
  readonly previous?: boolean;
  readonly timestamps?: boolean;
  readonly raw?: boolean;
}

/** A container may write nothing for days. */
const LONGEST_SILENCE_MS = 2 ** 31 - 1;

/** logs. */
export const addLogCommands: AddCommands = (program, act) => {
  program
    .command('logs')
    .summary('show the output of a container')
    .description('Shows the output of a container. Control characters are shown as codes such as \\x1b, unless --raw.')
    .argument('<container>')
    .option('-f, --follow', 'continue with new lines until the container ends')
    .option('--tail <lines>', 'only so many of the last lines', parseCount)
    .option('--since <time>', 'only lines from this time on, in ISO 8601')
    .option('--previous', 'of the run before the last restart')
    .option('--timestamps', 'begin each line with its time')
    .option('--raw', 'print the bytes as they are; a hostile container can then control your terminal')
    .action(act(logs));
};

async function logs(session: Session, name: string, { raw, ...flags }: Flags): Promise<void> {
  const api = await session.api();
  const { environment } = session;
  const address = await findAddress(api, name, 'ct');
  if (address.kind !== 'ct') throw new ClientError('NOT_SUPPORTED', 'Only containers have logs.', EXIT_CODES.refused);
  const { follow, tail, since, previous, timestamps } = flags;
  const answer = await api.http.open('GET', `${ctExtension(address)}/logs`, {
    headers: { accept: 'text/plain, application/json;q=0.5' },
    query: { context: address.context, follow, tail, since, previous, timestamps },
    signal: environment.interrupted,
    ...(follow ? { timeoutMs: LONGEST_SILENCE_MS } : {}),
  });
  const decoder = new TextDecoder();
  try {
    for await (const part of answer) {
      const bytes = part as Buffer;
      environment.stdout.write(raw ? bytes : printableLines(decoder.decode(bytes, { stream: true })));
    }
  } catch (error) {
    if (environment.interrupted.aborted) throw interruption();
    throw networkFailure(error, api.http.access.url);
  }
}
