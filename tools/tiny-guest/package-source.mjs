import { describeMachine } from '../local/machine.mjs';
import { aptPackages } from './apt-packages.mjs';
import { dnfPackages } from './dnf-packages.mjs';

/**
 * A source of distribution packages, which are downloaded and unpacked but never installed.
 * @typedef {object} PackageSource
 * @property {(names: string[], target: string) => Promise<string[]>} unpack returns the names of the package files,
 *   which include versions
 * @property {(names: string[]) => Promise<string[]>} dependenciesOf their dependencies, including transitive ones
 * @property {() => Promise<string[]>} kernelPackages the packages of the most suitable kernel
 * @property {Record<'busybox' | 'agent' | 'ssh' | 'boot' | 'reader', string[]>} packages
 */

/**
 * The packages of this machine's distribution.
 * @param {{ folder: string, log: (line: string) => void }} options
 * @returns {Promise<PackageSource>}
 */
export async function packageSource(options) {
  const { packager, name } = await describeMachine();
  if (packager === 'apt') return aptPackages(options);
  if (packager === 'dnf') return dnfPackages(options);
  throw new Error(`The tiny guest can be built on Debian, Ubuntu and Fedora only, not on ${name}.`);
}
