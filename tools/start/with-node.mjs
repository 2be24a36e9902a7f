// Runs a script of the project on the Node that the lockfile brings: node tools/start/with-node.mjs SCRIPT [ARG …]
import { runOnNode } from './run-service.mjs';
import { ensureInstalled } from './workspace.mjs';

await ensureInstalled();
process.exit(await runOnNode(process.argv[2], [], process.argv.slice(3)));
