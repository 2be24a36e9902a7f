// node tools/local/install.mjs            installs what the local backend lacks
// node tools/local/install.mjs --check    only says what is missing
import { existsSync, readFileSync } from 'node:fs';
import { describeMachine, findProgram } from './machine.mjs';
import { packagesFor, REQUIREMENTS } from './packages.mjs';
import { lastLine, runCommand } from './run-command.mjs';

/** @typedef {import('./packages.mjs').Requirement} Requirement */

/**
 * @typedef {object} InstallPorts
 * @property {import('./run-command.mjs').RunCommand} run
 * @property {(program: string) => string | undefined} find
 * @property {(user: string) => boolean} hasUser
 * @property {import('./machine.mjs').Machine} machine
 * @property {(line: string) => void} log
 */

/** libvirtd from Debian's packages runs its guests as this user and does not start without it. */
const GUEST_USER = 'libvirt-qemu';

/**
 * The requirements that this machine does not meet.
 * @param {Pick<InstallPorts, 'find' | 'hasUser' | 'machine'>} ports
 * @returns {Requirement[]}
 */
export function findMissing({ find, hasUser, machine }) {
  return REQUIREMENTS.filter(({ what, programs }) => {
    if (!programs.some((program) => find(program))) return true;
    return what === 'libvirt' && machine.packager === 'apt' && !hasUser(GUEST_USER);
  });
}

/**
 * Installs what is missing from the distribution, when that is allowed.
 * @param {InstallPorts} ports
 * @returns {Promise<{ installed: string[], problem?: string }>} `problem` is one sentence that says what to do
 */
export async function installMissing(ports) {
  const { machine, run, log } = ports;
  const missing = findMissing(ports);
  if (missing.length === 0) return { installed: [] };

  const lacks = missing.map(({ what }) => what).join(', ');
  if (!machine.packager) {
    return {
      installed: [],
      problem: `${machine.name} lacks ${lacks}: install them with its package tool, then try again (only Debian, Ubuntu and Fedora are done by themselves).`,
    };
  }
  const packages = packagesFor(missing, machine.packager, machine.systemd);
  const command = installCommand(machine.packager, packages);
  if (!machine.elevate) {
    return {
      installed: [],
      problem: `This machine lacks ${lacks}: type \`sudo ${command.join(' ')}\`, then try again.`,
    };
  }

  log(`Installing ${packages.join(' ')} …`);
  if (machine.packager === 'apt') await refreshLists(ports, packages);
  const result = await runElevated(ports, command, (line) => isProgress(line) && log(`  ${line}`));
  const still = findMissing(ports);
  if (result.code !== 0 || still.length > 0) {
    const why = result.code === 0 ? `${still.map(({ what }) => what).join(', ')} still missing` : lastLine(result);
    return { installed: [], problem: `Installing failed (${why}): type \`sudo ${command.join(' ')}\` to see why.` };
  }
  return { installed: packages };
}

/**
 * @param {'apt' | 'dnf'} packager
 * @param {string[]} packages
 */
const installCommand = (packager, packages) =>
  packager === 'apt'
    ? ['apt-get', 'install', '-y', '--no-install-recommends', ...packages]
    : ['dnf', 'install', '-y', '--setopt=install_weak_deps=False', ...packages];

/**
 * A container image often ships without package lists: they are fetched when a package is not known.
 * @param {InstallPorts} ports
 * @param {string[]} packages
 */
async function refreshLists(ports, packages) {
  const known = await ports.run('apt-cache', ['policy', ...packages], { timeoutMs: 60_000 });
  const candidates = [...known.stdout.matchAll(/^ {2}Candidate: (?!\(none\))/gm)].length;
  if (known.code === 0 && candidates === packages.length) return;
  ports.log('  fetching the package lists …');
  await runElevated(ports, ['apt-get', 'update']);
}

/**
 * @param {InstallPorts} ports
 * @param {string[]} command
 * @param {(line: string) => void} [onLine]
 */
function runElevated({ machine, run }, command, onLine) {
  // sudo drops the environment, so the variable travels as an argument of `env`.
  const [file, ...args] = [...(machine.elevate ?? []), 'env', 'DEBIAN_FRONTEND=noninteractive', ...command];
  return run(/** @type {string} */ (file), args, { timeoutMs: 15 * 60_000, onLine });
}

/** @param {string} line */
const isProgress = (line) => /^(Get:\d+|Setting up|Installing|Upgrading|\s*Installing\s*:)/.test(line);

/** @param {string} user */
const hasUser = (user) =>
  existsSync('/etc/passwd') &&
  readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .some((line) => line.startsWith(`${user}:`));

/**
 * The ports of this very machine.
 * @param {(line: string) => void} log
 * @returns {Promise<InstallPorts>}
 */
export const installPorts = async (log) => ({
  run: runCommand,
  find: findProgram,
  hasUser,
  machine: await describeMachine(),
  log,
});

if (process.argv[1] === import.meta.filename) {
  const ports = await installPorts((line) => console.error(line));
  if (process.argv.includes('--check')) {
    console.log(JSON.stringify({ missing: findMissing(ports).map(({ what }) => what) }));
  } else {
    const { installed, problem } = await installMissing(ports);
    console.log(JSON.stringify({ installed, problem }));
    process.exitCode = problem ? 1 : 0;
  }
}
