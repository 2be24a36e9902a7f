// npm run start:limits: installs and builds, then runs homeserver-limits.
import { join } from 'node:path';
import { runService } from './run-service.mjs';
import { ensureBuilt, ensureInstalled, root } from './workspace.mjs';

async function start() {
  await ensureInstalled();
  await ensureBuilt(['@headgate/homeserver-limits']);
  return runService(join(root, 'apps/homeserver-limits/dist/main.js'), process.argv.slice(2));
}

start().then(
  (code) => process.exit(code),
  (error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  },
);
