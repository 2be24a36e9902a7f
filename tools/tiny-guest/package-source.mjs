import { describeMachine } from '../local/machine.mjs';
import { aptPackages } from './apt-packages.mjs';
import { dnfPackages } from './dnf-packages.mjs';

/**
 * Where the parts of the guest come from: a distribution's packages, fetched and unpacked but never installed.
 * @typedef {object} PackageSource
 * @property {(names: string[], target: string) => Promise<string[]>} unpack tells the files it took, which name versions
 * @property {(names: string[]) => Promise<string[]>} dependenciesOf the packages that these need, one by one and in depth
 * @property {() => Promise<string[]>} kernelPackages those of the kernel that suits a guest best
 * @property {Record<'busybox' | 'agent' | 'ssh' | 'boot', string[]>} packages
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
  throw new Error(`The tiny guest is built from packages of Debian, Ubuntu or Fedora: ${name} is none of them.`);
}
