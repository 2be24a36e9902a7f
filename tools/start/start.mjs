// npm start: everything that is needed, then the service. Runs on the Node of the machine, before any package is there.
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runService, VM_SERVICE_FLAGS } from './run-service.mjs';
import { ensureBuilt, ensureInstalled, root, say } from './workspace.mjs';

const args = process.argv.slice(2);

async function start() {
  await ensureInstalled();
  await ensureBuilt(['@headgate/vm-service', '@headgate/web-console']);
  const local = args.includes('--local') ? await prepareMachine() : undefined;
  const main = join(root, 'apps/vm-service/dist/main.js');
  try {
    return await runService(main, [...args, ...(local?.options ?? [])], VM_SERVICE_FLAGS);
  } finally {
    await local?.end();
  }
}

/** Makes this machine ready to run virtual machines. */
async function prepareMachine() {
  const { prepareLocal } = await import('../local/prepare-local.mjs');
  const machine = await prepareLocal({ log: say, dataDir: dataDir() });
  for (const sentence of [...machine.problems, ...machine.warnings]) say(sentence);
  if (!machine.ok) throw new Error('This machine can not run virtual machines yet; what is missing stands above.');
  const guest = machine.tinyGuestPath ? ['--tiny-guest', machine.tinyGuestPath] : [];
  return { options: ['--accelerator', machine.accelerator, ...guest], end: machine.stop };
}

/** Where the service keeps what it knows; notes of the daemons that were started lie beside it. */
function dataDir() {
  // Everything else on the command line is the service's to judge, a missing value too.
  const { values } = parseArgs({ args, strict: false, options: { 'data-dir': { type: 'string' } } });
  if (typeof values['data-dir'] === 'string') return values['data-dir'];
  if (process.getuid?.() === 0) return '/var/lib/headgate';
  return join(process.env['XDG_DATA_HOME'] || join(homedir(), '.local/share'), 'headgate');
}

start().then(
  (code) => process.exit(code),
  (error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  },
);
