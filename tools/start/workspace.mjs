// What has to be there before anything of the project can run: packages, Node 24, builds. Plain Node 20, no packages.
import { spawn } from 'node:child_process';
import { existsSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { alone } from './checkout-lock.mjs';

export const root = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '../..');

/** The build system's entry. */
export const NX = 'node_modules/nx/dist/bin/nx.js';

/** npm writes it last, so it is there only after an install that was finished. */
const installed = join(root, 'node_modules/.package-lock.json');

/** @param {string} line */
export const say = (line) => process.stdout.write(`${line}\n`);

/**
 * Installs what the lockfile says, unless that is what is there.
 * @param {(line: string) => void} log
 */
export function ensureInstalled(log = say) {
  return prepare(log, async () => {
    const asked = statSync(join(root, 'package-lock.json')).mtimeMs;
    if (existsSync(installed) && statSync(installed).mtimeMs >= asked) return;
    log('Installing the packages that the lockfile names; the first time this takes a minute or two …');
    const args = ['ci', '--no-audit', '--no-fund', '--loglevel=error'];
    await runQuietly('npm', args, { log, every: 'still installing' });
    // npm leaves the file as it is when it holds the same; it is as new as the lockfile now.
    utimesSync(installed, new Date(), new Date());
  });
}

/**
 * Builds projects, each only when something of it changed.
 * @param {string[]} projects
 * @param {(line: string) => void} log
 */
export function ensureBuilt(projects, log = say) {
  return prepare(log, async () => {
    log('Building what changed …');
    const args = [join(root, NX), 'run-many', '-t', 'build', '-p', projects.join(','), '--output-style=static'];
    await runQuietly(findNode(), args, { log, every: 'still building' });
  });
}

/**
 * @param {(line: string) => void} log
 * @param {() => Promise<void>} work
 */
const prepare = (log, work) =>
  alone(join(root, '.nx/prepare'), work, (pid) =>
    log(`Waiting for another start, process ${pid}, which prepares this checkout …`),
  );

/** The Node that the lockfile brings, or this one where it is new enough. */
export function findNode() {
  const brought = join(root, `node_modules/node-linux-${process.arch}/bin/node`);
  if (process.platform === 'linux' && existsSync(brought)) return brought;
  if (Number(process.versions.node.split('.')[0]) >= 24) return process.execPath;
  throw new Error(
    `Headgate needs Node 24 or newer; this is ${process.version}, and no package brings one for this platform.`,
  );
}

/** The environment in which tools of the project find the right Node first. */
export const projectEnvironment = () => ({
  ...process.env,
  PATH: `${join(root, 'node_modules/.bin')}:${process.env['PATH'] ?? ''}`,
});

/**
 * Runs a command without its output, which is shown only when it fails.
 * @param {string} command
 * @param {string[]} args
 * @param {{ log: (line: string) => void, every: string }} progress what is said now and then while it runs
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
    throw new Error(`${command} ${args[0]} failed; what it said stands above.`);
  }
}
