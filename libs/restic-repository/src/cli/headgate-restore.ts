#!/usr/bin/env node
import { RepositoryError } from '../model/errors.js';
import { parseCommandLine, UsageError } from './command-line.js';
import { runCommand } from './run-command.js';

/** Exit codes: of a command line that can't be used, and of any other failure. */
const MISTAKE = 2;
const FAILURE = 1;

// A reader that closes the pipe after the first lines, such as head.
process.stdout.on('error', () => undefined);

try {
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  process.exitCode = await runCommand(parseCommandLine(process.argv.slice(2)), process.env, say);
} catch (error) {
  const isExpected = error instanceof UsageError || error instanceof RepositoryError || isOfSystem(error);
  process.stderr.write(`${isExpected ? (error as Error).message : ((error as Error).stack ?? String(error))}\n`);
  process.exitCode = error instanceof UsageError ? MISTAKE : FAILURE;
}

/** An error of a file, such as a missing folder; its message names it. */
function isOfSystem(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}
