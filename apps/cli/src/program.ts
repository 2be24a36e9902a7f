import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { ClientError } from './client/client-error.js';
import { EXIT_CODES } from './exit-codes.js';
import { addCommands } from './commands/index.js';
import type { Act } from './commands/command-context.js';
import { ProgramEnded } from './ports/program-ended.js';
import { Session, type GlobalOptions } from './session.js';
import { errorLine, OUTPUT_FORMATS } from './terminal/output.js';
import type { Environment } from './terminal/environment.js';

const parseTimeout = (value: string): number => {
  const seconds = Number(value);
  if (!/^\d{1,5}(\.\d+)?$/.test(value) || seconds <= 0)
    throw new InvalidArgumentError('It must be a number of seconds.');
  return seconds;
};

/** The whole command line, whose actions run in sessions of these environment. */
export function createProgram(environment: Environment, version: string): Command {
  const program = new Command('headgate')
    .description('Virtual machines and containers of a Headgate service.')
    .version(version, '-V, --version', 'print the version')
    .addOption(new Option('-o, --output <format>', 'how results are printed').choices(OUTPUT_FORMATS).default('table'))
    .option('--context <name>', 'the context of the configuration to use')
    .option('--server <url>', 'the service to use, instead of a context')
    .option('--cacert <file>', 'certificates of the authority of the server, in PEM')
    .option('--insecure-http', 'send the token over HTTP to another machine')
    .option('--timeout <seconds>', 'the longest time without an answer', parseTimeout, 120)
    .helpCommand(false)
    .helpOption('-h, --help', 'show help')
    .configureHelp({ showGlobalOptions: true, sortSubcommands: false })
    .configureOutput({
      writeOut: (text) => void environment.stdout.write(text),
      writeErr: (text) => void environment.stderr.write(text),
      getOutHelpWidth: () => environment.stdout.columns ?? 100,
    })
    .exitOverride();
  const act: Act =
    <Args extends unknown[]>(action: (session: Session, ...args: Args) => Promise<void>) =>
    async (...args: [...Args, Command]) => {
      const command = args.pop() as Command;
      const session = new Session(environment, command.optsWithGlobals<GlobalOptions>(), version);
      await action(session, ...(args as unknown as Args));
    };
  addCommands(program, act);
  return program;
}

/** Runs a command line. @returns the exit code of the process */
export async function runProgram(args: readonly string[], environment: Environment, version: string): Promise<number> {
  try {
    await createProgram(environment, version).parseAsync(args, { from: 'user' });
    return EXIT_CODES.ok;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_CODES.ok : EXIT_CODES.usage;
    if (error instanceof ProgramEnded) return error.exitCode;
    if (!(error instanceof ClientError)) throw error;
    environment.stderr.write(`headgate: ${errorLine(error)}\n`);
    return error.exitCode;
  }
}
