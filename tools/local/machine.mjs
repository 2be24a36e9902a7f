import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand, searchPath } from './run-command.mjs';

/**
 * The facts about this machine that the preparation needs.
 * @typedef {object} Machine
 * @property {string} name the distribution's own name, such as `Debian GNU/Linux 12 (bookworm)`
 * @property {'apt' | 'dnf' | undefined} packager undefined on an unknown distribution
 * @property {boolean} root
 * @property {string[] | undefined} elevate prefix of commands that require root; undefined if not possible
 * @property {boolean} systemd whether systemd is the service manager
 */

/**
 * The values of an os-release file.
 * @param {string} text
 * @returns {Record<string, string>}
 */
export function parseOsRelease(text) {
  const pairs = [...text.matchAll(/^([A-Z_]+)=(?:"([^"]*)"|(.*))$/gm)];
  return Object.fromEntries(pairs.map(([, key, quoted, bare]) => [key, quoted ?? bare ?? '']));
}

/**
 * The package manager of an os-release: of Debian, Ubuntu and their derivatives, or of Fedora.
 * @param {Record<string, string>} release
 * @returns {Machine['packager']}
 */
export function packagerOf(release) {
  const families = [release['ID'], ...(release['ID_LIKE'] ?? '').split(' ')];
  if (families.some((id) => id === 'debian' || id === 'ubuntu')) return 'apt';
  if (families.includes('fedora')) return 'dnf';
  return undefined;
}

/**
 * Inspects this machine. Runs sudo only to find out whether it works without a password.
 * @param {import('./run-command.mjs').RunCommand} [run]
 * @returns {Promise<Machine>}
 */
export async function describeMachine(run = runCommand) {
  const release = existsSync('/etc/os-release') ? parseOsRelease(readFileSync('/etc/os-release', 'utf8')) : {};
  const root = process.getuid?.() === 0;
  const sudo = !root && (await run('sudo', ['-n', 'true'], { timeoutMs: 5_000 })).code === 0;
  return {
    name: release['PRETTY_NAME'] ?? 'this system',
    packager: packagerOf(release),
    root,
    elevate: root ? [] : sudo ? ['sudo', '-n'] : undefined,
    systemd: existsSync('/run/systemd/system'),
  };
}

/**
 * The full path of a program, or undefined if it is not installed.
 * @param {string} name
 * @returns {string | undefined}
 */
export function findProgram(name) {
  return searchPath()
    .split(':')
    .map((folder) => join(folder, name))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}
