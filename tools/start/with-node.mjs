// Runs a script of the project on the Node that the lockfile brings: node tools/start/with-node.mjs SCRIPT [ARG …]
import { runService } from './run-service.mjs';
import { ensureInstalled } from './workspace.mjs';

await ensureInstalled();
process.exit(await runService(process.argv[2], process.argv.slice(3)));
