// Installs Synapse, the Matrix homeserver that the e2e tests put behind the gateway, into a Python environment of its own in the cache.
//   node tools/synapse/install.mjs           installs it, unless it is installed
//   node tools/synapse/install.mjs --find    prints its Python interpreter; fails when it is not installed
// HEADGATE_TEST_SYNAPSE names the Python interpreter of another installation. Runs on plain Node 20.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { cacheDir } from '../local/cache-dir.mjs';

const requirements = join(import.meta.dirname, 'requirements.txt');

/** Written last, so it exists only after a complete installation. */
const MARKER = 'installed';

/**
 * The folder of the environment. Other requirements get another folder.
 * @param {string} cache
 */
export function environmentOf(cache = cacheDir()) {
  const version = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12);
  return join(cache, `synapse-${version}`);
}

/**
 * The Python interpreter that has Synapse; undefined when it is not installed.
 * @param {{ env?: Record<string, string | undefined>, cache?: string }} [options]
 */
export function findSynapse({ env = process.env, cache = cacheDir({ env }) } = {}) {
  if (env['HEADGATE_TEST_SYNAPSE']) return env['HEADGATE_TEST_SYNAPSE'];
  const folder = environmentOf(cache);
  return existsSync(join(folder, MARKER)) ? join(folder, 'bin/python') : undefined;
}

/**
 * Installs exactly the listed packages: pip compares the hash of each.
 * @returns {string} the Python interpreter that has Synapse
 */
export function installSynapse() {
  const found = findSynapse();
  if (found) return found;
  const folder = environmentOf();
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const python = join(folder, 'bin/python');
  run('python3', ['-m', 'venv', folder]);
  run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...PINNED, '-r', requirements]);
  run(python, ['-c', 'import synapse.app.homeserver']);
  writeFileSync(join(folder, MARKER), '');
  return python;
}

/** Without source packages, nothing is compiled, and no code of a package runs during the installation. */
const PINNED = ['--require-hashes', '--only-binary', ':all:'];

/**
 * @param {string} command
 * @param {string[]} args
 */
function run(command, args) {
  const { status, error } = spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  if (error) throw new Error(`${command} cannot be run: ${error.message}`);
  if (status !== 0) throw new Error(`${command} ${args.slice(0, 3).join(' ')} failed.`);
}

function main() {
  try {
    const python = process.argv.includes('--find') ? findSynapse() : installSynapse();
    if (python) process.stdout.write(`${python}\n`);
    process.exitCode = python ? 0 : 1;
  } catch (error) {
    process.stderr.write(`Synapse could not be installed: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main();
