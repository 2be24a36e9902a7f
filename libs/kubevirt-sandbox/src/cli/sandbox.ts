#!/usr/bin/env node
import { type CommandLine, parseCommandLine, USAGE, UsageError } from './command-line.js';
import { runSandbox } from './run-sandbox.js';

/** Exit codes: of a command line that can't be parsed, and of any other failure. */
const MISTAKE = 2;
const FAILURE = 1;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

// A reader that closes the pipe after the first lines, such as head, must not end the cluster.
process.stdout.on('error', () => undefined);

async function run(options: CommandLine): Promise<void> {
  if (options.help) return say(USAGE);
  const { close } = await runSandbox(options, say);
  const end = (): void => void close().then(() => process.exit(0), fail);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, end);
}

function fail(error: unknown, code = FAILURE): void {
  // Only an unexpected error gets a stack trace.
  const text = error instanceof UsageError ? error.message : error instanceof Error ? error.stack : String(error);
  process.stderr.write(`${text}\n`);
  process.exit(code);
}

function main(): void {
  let options: CommandLine;
  try {
    options = parseCommandLine(process.argv.slice(2));
  } catch (error) {
    return fail(error, MISTAKE);
  }
  run(options).catch(fail);
}

main();
