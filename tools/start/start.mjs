// npm start: installs, builds and prepares, then runs the service. Works with the machine's Node, before any package is
// installed.
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

/** Prepares this machine to run virtual machines and containers. */
async function prepareMachine() {
  const { prepareLocal } = await import('../local/prepare-local.mjs');
  const machine = await prepareLocal({ log: say, dataDir: dataDir() });
  for (const sentence of [...machine.problems, ...machine.warnings]) say(sentence);
  if (!machine.ok) throw new Error('This machine cannot run virtual machines yet; see the messages above.');
  const guest = machine.tinyGuestPath ? ['--tiny-guest', machine.tinyGuestPath] : [];
  const reader = machine.readerGuestPath ? ['--reader-guest', machine.readerGuestPath] : [];
  const containers = machine.containersSocket ? ['--containers', machine.containersSocket] : [];
  return { options: ['--accelerator', machine.accelerator, ...guest, ...reader, ...containers], end: machine.stop };
}

/** The data directory of the service, which also records the daemons that were started. */
function dataDir() {
  // The service validates the rest of the command line, including a missing value.
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
