import { messageOf } from '@headgate/domain-contracts';
import { runSuite } from './run-suite.js';
import { parseSuiteOptions, USAGE } from './suite-options.js';

// The program of `npm run test:cluster`. Its first arguments are the folder of this project and the one in which npm
// was started.
const [project = '', folder = '', ...args] = process.argv.slice(2);
const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function main(): Promise<number> {
  const options = parseSuiteOptions(args, process.env);
  if (!options) {
    say(USAGE);
    return 0;
  }
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort());
  return runSuite({ options, project, folder, say, signal: stop.signal });
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${messageOf(error)}\n`);
    process.exit(2);
  },
);
