import { parseCommandLine, USAGE, UsageError } from './command-line.js';
import { runSandbox } from './run-sandbox.js';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

// A reader that closes the pipe after the first lines, such as head, must not end the cluster.
process.stdout.on('error', () => undefined);

async function main(): Promise<void> {
  const options = parseCommandLine(process.argv.slice(2));
  if (options.help) return say(USAGE);
  const { close } = await runSandbox(options, say);
  const end = (): void => void close().then(() => process.exit(0), fail);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, end);
}

function fail(error: unknown): void {
  // Only an unexpected error gets a stack trace.
  const text = error instanceof UsageError ? error.message : error instanceof Error ? error.stack : String(error);
  process.stderr.write(`${text}\n`);
  process.exit(1);
}

main().catch(fail);
