// Runs a script of the project with the Node from the lockfile: node tools/start/with-node.mjs SCRIPT [ARG …]
import { runOnNode } from './run-service.mjs';
import { ensureInstalled } from './workspace.mjs';

const [script = '', ...args] = process.argv.slice(2);
await ensureInstalled();
process.exit(await runOnNode(script, [], args));
