// npm start: everything that is needed, then the service. Runs on the Node of the machine, before any package is there.
import { join } from 'node:path';
import { runService } from './run-service.mjs';
import { ensureBuilt, ensureInstalled, root, say } from './workspace.mjs';

const args = process.argv.slice(2);

async function start() {
  await ensureInstalled();
  await ensureBuilt(['@headgate/vm-service', '@headgate/web-console']);
  const local = args.includes('--local') ? await prepare() : undefined;
  const main = join(root, 'apps/vm-service/dist/main.js');
  try {
    return await runService(main, [...args, ...(local?.options ?? [])]);
  } finally {
    await local?.end();
  }
}

/** Makes this machine ready to run virtual machines. */
async function prepare() {
  const { prepareLocal } = await import('../local/prepare-local.mjs');
  const { ok, problems, accelerator, tinyGuestPath, end } = await prepareLocal({ log: say, dataDir: dataDir() });
  if (!ok) throw new Error(problems.join('\n'));
  for (const problem of problems) say(problem);
  const options = ['--accelerator', accelerator, ...(tinyGuestPath ? ['--tiny-guest', tinyGuestPath] : [])];
  return { options, end: end ?? (async () => undefined) };
}

function dataDir() {
  const at = args.findIndex((arg) => arg === '--data-dir' || arg.startsWith('--data-dir='));
  if (at < 0) return undefined;
  return args[at].includes('=') ? args[at].slice(args[at].indexOf('=') + 1) : args[at + 1];
}

start().then(
  (code) => process.exit(code),
  (error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  },
);
