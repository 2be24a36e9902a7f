// The real service over instances in memory, for work on the web console:
//   node apps/vm-service/dev-service.mjs --count 10000
// --help lists the options.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runOnNode } from '../../tools/start/run-service.mjs';

/** The embedded store needs it. */
const MIN_NODE_VERSION = 24;

const args = process.argv.slice(2);
if (Number(process.versions.node.split('.')[0]) < MIN_NODE_VERSION) {
  process.exit(await runOnNode(fileURLToPath(import.meta.url), [], args));
}

// Vite compiles the sources as it loads them.
const { runnerImport } = await import('vite');
const { module } = await runnerImport(join(import.meta.dirname, 'src/testing/dev/dev-service.ts'), {
  root: import.meta.dirname,
  configFile: false,
  logLevel: 'error',
});

try {
  const dev = await module.startDevService(args);
  if (dev) {
    process.stdout.write(`Headgate serves ${dev.url}\n`);
    const close = () => void dev.close().then(() => process.exit(0));
    process.once('SIGINT', close);
    process.once('SIGTERM', close);
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exit(1);
}
