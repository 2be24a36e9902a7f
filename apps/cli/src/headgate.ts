#!/usr/bin/env node
import { homedir } from 'node:os';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { version } from '../package.json';
import { EXIT_CODES } from './exit-codes.js';
import { runProgram } from './program.js';

// Keeps the compiled code for the next start, in a folder that no other user can prepare.
enableCompileCache(join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'headgate'));

const interruption = new AbortController();
let interruptions = 0;
process.on('SIGINT', () => {
  interruption.abort();
  // A command that does not end itself is ended by the second one.
  if (++interruptions > 1) process.exit(EXIT_CODES.interrupted);
});
// Ends through the event "exit", where a console restores the terminal.
process.on('SIGTERM', () => process.exit(EXIT_CODES.interrupted + 13));
process.on('SIGHUP', () => process.exit(EXIT_CODES.interrupted - 1));
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // The reader has seen enough, such as "head".
    if (error.code === 'EPIPE') process.exit(EXIT_CODES.ok);
    throw error;
  });

process.exitCode = await runProgram(
  process.argv.slice(2),
  {
    env: process.env,
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    homeDirectory: homedir(),
    command: [process.execPath, process.argv[1] ?? ''],
    interrupted: interruption.signal,
  },
  version,
);
