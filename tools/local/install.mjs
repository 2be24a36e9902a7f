// node tools/local/install.mjs            installs the missing requirements of the local backend
// node tools/local/install.mjs --check    only lists the missing requirements
import { existsSync, readFileSync } from 'node:fs';
import { describeMachine, findProgram } from './machine.mjs';
import { packagesFor, REQUIREMENTS } from './packages.mjs';
import { lastLine, runCommand } from './run-command.mjs';

/** @typedef {import('./packages.mjs').Requirement} Requirement */

/**
 * @typedef {object} InstallPorts
 * @property {import('./run-command.mjs').RunCommand} run
 * @property {(program: string) => string | undefined} find
 * @property {(file: string) => boolean} hasFile
 * @property {(user: string) => boolean} hasUser
 * @property {import('./machine.mjs').Machine} machine
 * @property {(line: string) => void} log
 */

/** Debian's libvirtd runs guests as this user and does not start without it. */
const GUEST_USER = 'libvirt-qemu';

const INSTALL_TIMEOUT_MS = 15 * 60_000;

/**
 * The unmet requirements of this machine.
 * @param {Pick<InstallPorts, 'find' | 'hasFile' | 'hasUser' | 'machine'>} ports
 * @returns {Requirement[]}
 */
export function findMissing({ find, hasFile, hasUser, machine }) {
  return REQUIREMENTS.filter(({ what, programs, files = [] }) => {
    if (!programs.some((program) => find(program)) && !files.some(hasFile)) return true;
    return what === 'libvirt' && machine.packager === 'apt' && !hasUser(GUEST_USER);
  });
}

/**
 * Installs missing requirements from the distribution, if permitted.
 * @param {InstallPorts} ports
 * @returns {Promise<{ installed: string[], problem?: string, warning?: string }>} `problem` is one sentence with the
 *   remedy, and so is `warning`, which is about optional requirements only
 */
export async function installMissing(ports) {
  const { machine, log } = ports;
  const missing = findMissing(ports);
  if (missing.length === 0) return { installed: [] };

  const { packager } = machine;
  if (!packager) {
    return report(
      missing,
      `${machine.name} does not have ${namesOf(missing)}: install them with its package manager, then try again (automatic installation supports Debian, Ubuntu and Fedora).`,
    );
  }
  const packages = packagesFor(missing, packager, machine.systemd);
  const command = installCommand(packager, packages);
  if (!machine.elevate) {
    const advice = `run \`sudo ${command.join(' ')}\`, then try again.`;
    return report(missing, `This machine does not have ${namesOf(missing)}: ${advice}`);
  }

  log(`Installing ${packages.join(' ')} …`);
  if (packager === 'apt') await refreshLists(ports, packages);
  const result = await runElevated(ports, command, (line) => isProgress(line) && log(`  ${line}`));
  const stillMissing = findMissing(ports);
  if (stillMissing.length === 0 && result.code === 0) return { installed: packages };
  const reason = result.code === 0 ? `${namesOf(stillMissing)} still missing` : lastLine(result);
  const advice = `run \`sudo ${command.join(' ')}\` for details.`;
  return report(stillMissing, `The installation failed (${reason}): ${advice}`);
}

/** @param {Requirement[]} requirements */
const namesOf = (requirements) => requirements.map(({ what }) => what).join(', ');

/**
 * Only a missing required program prevents VMs from running.
 * @param {Requirement[]} missing
 * @param {string} sentence
 */
function report(missing, sentence) {
  const limitations = missing.flatMap(({ withoutIt }) => withoutIt ?? []);
  if (missing.length > limitations.length || missing.length === 0) return { installed: [], problem: sentence };
  return { installed: [], warning: `${limitations.join('. ')}. ${sentence}` };
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
 * Container images often have no package lists. They are updated only if a package is unknown.
 * @param {InstallPorts} ports
 * @param {string[]} packages
 */
async function refreshLists(ports, packages) {
  const known = await ports.run('apt-cache', ['policy', ...packages], { timeoutMs: 60_000 });
  const candidates = [...known.stdout.matchAll(/^ {2}Candidate: (?!\(none\))/gm)].length;
  if (known.code === 0 && candidates === packages.length) return;
  ports.log('  updating the package lists …');
  await runElevated(ports, ['apt-get', 'update']);
}

/**
 * @param {InstallPorts} ports
 * @param {string[]} command
 * @param {(line: string) => void} [onLine]
 */
function runElevated({ machine, run }, command, onLine) {
  // sudo drops the environment, so `env` sets the variable.
  const [file, ...args] = [...(machine.elevate ?? []), 'env', 'DEBIAN_FRONTEND=noninteractive', ...command];
  return run(/** @type {string} */ (file), args, { timeoutMs: INSTALL_TIMEOUT_MS, onLine });
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
 * The ports of this machine.
 * @param {(line: string) => void} log
 * @returns {Promise<InstallPorts>}
 */
export const installPorts = async (log) => ({
  run: runCommand,
  find: findProgram,
  hasFile: existsSync,
  hasUser,
  machine: await describeMachine(),
  log,
});

if (process.argv[1] === import.meta.filename) {
  const ports = await installPorts((line) => console.error(line));
  if (process.argv.includes('--check')) {
    console.log(JSON.stringify({ missing: findMissing(ports).map(({ what }) => what) }));
  } else {
    const { installed, problem, warning } = await installMissing(ports);
    console.log(JSON.stringify({ installed, problem, warning }));
    process.exitCode = problem ? 1 : 0;
  }
}
