/**
 * Builds the page with all components and serves it on a free port, or on the given one: npm run components [-- --port
 * PORT]. It needs no service.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build, preview } from 'vite';

const configFile = fileURLToPath(new URL('../vite.components.config.js', import.meta.url));
const root = fileURLToPath(new URL('../components', import.meta.url));
const { values } = parseArgs({ options: { port: { type: 'string', default: '0' } } });

const outDir = await mkdtemp(join(tmpdir(), 'headgate-components-'));
const options = { configFile, root, logLevel: 'error', build: { outDir, emptyOutDir: true } };
const end = async () => {
  await rm(outDir, { recursive: true, force: true });
  process.exit();
};
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void end());
try {
  await build(options);
  const server = await preview({
    ...options,
    preview: { host: '127.0.0.1', port: Number(values.port), strictPort: true },
  });
  process.stdout.write(`The components are on http://127.0.0.1:${server.httpServer.address().port}\n`);
} catch (error) {
  await rm(outDir, { recursive: true, force: true });
  throw error;
}
