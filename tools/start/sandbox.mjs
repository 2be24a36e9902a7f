// npm run sandbox -- --port P: a simulated cluster for kubectl and any other client, without the service.
import { join } from 'node:path';
import { runService, SANDBOX_FLAGS } from './run-service.mjs';
import { ensureBuilt, ensureInstalled, root } from './workspace.mjs';

async function start() {
  await ensureInstalled();
  await ensureBuilt(['@headgate/kubevirt-sandbox']);
  return runService(join(root, 'libs/kubevirt-sandbox/dist/sandbox.js'), process.argv.slice(2), SANDBOX_FLAGS);
}

start().then(
  (code) => process.exit(code),
  (error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  },
);
