import { compare, COMPARE_USAGE, parseCompareOptions } from './compare.js';

// The program of `npm run sandbox:compare`. Its first argument is the folder with the scenarios.
const [folder = '', ...argv] = process.argv.slice(2);
const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function main(): Promise<number> {
  const options = parseCompareOptions(argv, folder);
  if (options) return (await compare(options, say)) === 0 ? 0 : 1;
  say(COMPARE_USAGE);
  return 0;
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(2);
  },
);
