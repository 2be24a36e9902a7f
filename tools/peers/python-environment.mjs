// Installs packages of Python into an environment of their own. pip compares the hash of each.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram } from './run-program.mjs';

/** Without source packages, nothing is compiled, and no code of a package runs during the installation. */
const PINNED = ['--require-hashes', '--only-binary', ':all:'];

/**
 * A peer whose packages are in tools/peers/NAME/requirements.txt.
 * @param {string} name
 * @param {{ variable: string, program: (folder: string) => string, check: string[], alone?: boolean }} options `alone`
 *   leaves out the packages that it requires
 * @returns {import('./install.mjs').Peer}
 */
export function pythonPeer(name, { variable, program, check, alone }) {
  const requirements = join(import.meta.dirname, name, 'requirements.txt');
  return {
    variable,
    program,
    check,
    pins: [requirements],
    build: (folder, env) => {
      runProgram('python3', ['-m', 'venv', folder], { env });
      const options = ['--quiet', '--disable-pip-version-check', ...PINNED, ...(alone ? ['--no-deps'] : [])];
      runProgram(join(folder, 'bin/python'), ['-m', 'pip', 'install', ...options, '-r', requirements], { env });
    },
  };
}

/** @param {string} folder */
export function sitePackages(folder) {
  const lib = join(folder, 'lib');
  const python = existsSync(lib) ? readdirSync(lib).find((name) => name.startsWith('python')) : undefined;
  return join(lib, python ?? 'python3', 'site-packages');
}
