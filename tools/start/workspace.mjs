// Prepares the checkout: packages, Node 24, builds. Runs on plain Node 20 without any package.
import { spawn } from 'node:child_process';
import { existsSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { withLock } from './checkout-lock.mjs';

export const root = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '../..');

/** The entry point of the build system. */
export const NX = 'node_modules/nx/dist/bin/nx.js';

/** npm writes this file last, so it exists only after a complete install. */
const installed = join(root, 'node_modules/.package-lock.json');

/** @param {string} line */
export const say = (line) => process.stdout.write(`${line}\n`);

/**
 * Installs the packages of the lockfile, unless they are installed already.
 * @param {(line: string) => void} log
 */
export function ensureInstalled(log = say) {
  return prepare(log, async () => {
    const changedMs = statSync(join(root, 'package-lock.json')).mtimeMs;
    if (existsSync(installed) && statSync(installed).mtimeMs >= changedMs) return;
    log('Installing packages; the first time takes a minute or two …');
    const args = ['ci', '--no-audit', '--no-fund', '--loglevel=error'];
    await runQuietly('npm', args, { log, every: 'still installing' });
    // npm does not touch the file when its content is the same, so mark it as newer than the lockfile.
    utimesSync(installed, new Date(), new Date());
  });
}

/**
 * Builds the projects that have changed.
 * @param {string[]} projects
 * @param {(line: string) => void} log
 */
export function ensureBuilt(projects, log = say) {
  return prepare(log, async () => {
    log('Building …');
    const args = [join(root, NX), 'run-many', '-t', 'build', '-p', projects.join(','), '--output-style=static'];
    await runQuietly(findNode(), args, { log, every: 'still building' });
  });
}

/**
 * @param {(line: string) => void} log
 * @param {() => Promise<void>} work
 */
const prepare = (log, work) =>
  withLock(join(root, '.nx/prepare'), work, (pid) =>
    log(`Waiting for process ${pid}, which is preparing this checkout …`),
  );

/** The Node from the lockfile, or the current one if it is new enough. */
export function findNode() {
  const bundled = join(root, `node_modules/node-linux-${process.arch}/bin/node`);
  if (process.platform === 'linux' && existsSync(bundled)) return bundled;
  if (Number(process.versions.node.split('.')[0]) >= 24) return process.execPath;
  throw new Error(
    `Headgate needs Node 24 or newer. This is ${process.version}, and no package provides Node for this platform.`,
  );
}

/** The environment of the project's tools, with the right Node first on the path. */
export const projectEnvironment = () => ({
  ...process.env,
  PATH: `${join(root, 'node_modules/.bin')}:${process.env['PATH'] ?? ''}`,
});

/**
 * Runs a command and shows its output only if it fails.
 * @param {string} command
 * @param {string[]} args
 * @param {{ log: (line: string) => void, every: string }} progress a message that is repeated while it runs
 */
async function runQuietly(command, args, { log, every }) {
  const child = spawn(command, args, { cwd: root, env: projectEnvironment(), stdio: ['ignore', 'pipe', 'pipe'] });
  /** @type {Buffer[]} */
  const output = [];
  child.stdout.on('data', (data) => output.push(data));
  child.stderr.on('data', (data) => output.push(data));
  const began = Date.now();
  const progress = setInterval(() => log(`  … ${every}, ${Math.round((Date.now() - began) / 1000)} s`), 15_000);
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  }).finally(() => clearInterval(progress));
  if (code !== 0) {
    process.stderr.write(Buffer.concat(output));
    throw new Error(`${command} ${args[0]} failed; see its output above.`);
  }
}
