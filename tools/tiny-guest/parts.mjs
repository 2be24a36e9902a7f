import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from '../local/machine.mjs';
import { findBusybox } from './busybox.mjs';
import { librariesOf } from './elf-libraries.mjs';

/**
 * The components of the guest, as files on this machine.
 * @typedef {object} Parts
 * @property {string} kernel a bzImage
 * @property {string} kernelVersion
 * @property {string} modules the module folder of the kernel
 * @property {string} busybox a statically linked busybox
 * @property {Record<string, string>} programs other programs, by name in the guest
 * @property {Map<string, string>} libraries their libraries, by name
 * @property {{ syslinux: string, mbr: string, tools: string }} boot `tools` is the folder of the mtools
 * @property {string[]} versions the package files of the components
 */

/**
 * Finds or downloads the components. Prefers suitable ones of this machine: a static busybox, a kernel for virtual
 * machines.
 * @param {import('./package-source.mjs').PackageSource} source
 * @param {string} work a folder for unpacked packages
 * @returns {Promise<Parts>}
 */
export async function collectParts(source, work) {
  /** @type {string[]} */
  const versions = [];
  /** @param {string} name @param {string[]} packages */
  const unpack = async (name, packages) => {
    const target = join(work, name);
    versions.push(...(await source.unpack(packages, target)));
    return target;
  };

  const { packages } = source;
  const kernel = await findKernel(source, unpack);
  const busybox = await findBusybox(() => unpack('busybox', packages.busybox));
  const agent = fileIn(await unpack('agent', packages.agent), ['usr/sbin/qemu-ga', 'usr/bin/qemu-ga']);
  const dropbear = fileIn(await unpack('ssh', packages.ssh), ['usr/sbin/dropbear', 'usr/bin/dropbear']);
  const boot = await unpack('boot', packages.boot);

  const programs = {
    'qemu-ga': agent,
    dropbear,
    ...Object.fromEntries(['resize2fs', 'e2fsck'].map((name) => [name, requireProgram(name)])),
  };
  const libraries = await findLibraries(source, unpack, work, Object.values(programs), [
    ...packages.agent,
    ...packages.ssh,
  ]);
  return {
    ...kernel,
    busybox,
    programs,
    libraries,
    versions: versions.sort(),
    boot: {
      syslinux: fileIn(boot, ['usr/bin/syslinux']),
      mbr: fileIn(boot, ['usr/lib/syslinux/mbr/mbr.bin', 'usr/lib/SYSLINUX/mbr.bin', 'usr/share/syslinux/mbr.bin']),
      tools: join(boot, 'usr/bin'),
    },
  };
}

/**
 * The kernel of this machine if it is one for virtual machines, or else that of the distribution.
 * @param {import('./package-source.mjs').PackageSource} source
 * @param {(name: string, packages: string[]) => Promise<string>} unpack
 */
export async function findKernel(source, unpack) {
  const own = kernelsIn('/').filter(({ kernelVersion }) => /cloud|kvm/.test(kernelVersion));
  if (own.length > 0) return /** @type {typeof own[0]} */ (own.at(-1));
  let folder;
  try {
    folder = await unpack('kernel', await source.kernelPackages());
  } catch (error) {
    // Without a network connection, use the machine's own kernel, which boots more slowly.
    const any = kernelsIn('/').at(-1);
    if (any) return any;
    throw error;
  }
  const [unpacked] = kernelsIn(folder);
  if (!unpacked) throw new Error("The kernel package contains no kernel, so the tiny guest can't be built.");
  return unpacked;
}

/**
 * The readable kernels below a root with their modules, oldest first.
 * @param {string} root
 */
function kernelsIn(root) {
  const folder = ['lib/modules', 'usr/lib/modules'].map((path) => join(root, path)).find((path) => existsSync(path));
  if (!folder) return [];
  return readdirSync(folder)
    .sort(new Intl.Collator('en', { numeric: true }).compare)
    .flatMap((kernelVersion) => {
      const modules = join(folder, kernelVersion);
      const kernel = [join(root, 'boot', `vmlinuz-${kernelVersion}`), join(modules, 'vmlinuz')].find(isReadable);
      return kernel && existsSync(join(modules, 'kernel')) ? [{ kernel, kernelVersion, modules }] : [];
    });
}

/** @param {string} file */
function isReadable(file) {
  try {
    return readFileSync(file).length > 0;
  } catch {
    return false;
  }
}

/**
 * Uses the machine's libraries, which are compatible because the programs come from the same release, and downloads
 * missing ones.
 * @param {import('./package-source.mjs').PackageSource} source
 * @param {(name: string, packages: string[]) => Promise<string>} unpack
 * @param {string} work
 * @param {string[]} programs
 * @param {string[]} packages of the programs
 */
export async function findLibraries(source, unpack, work, programs, packages) {
  const downloaded = join(work, 'libraries');
  const installed = librariesOf(programs, ['/']);
  if (installed.missing.length === 0) return installed.found;
  const names = await source.dependenciesOf(packages);
  await unpack('libraries', names);
  const { found, missing } = librariesOf(programs, ['/', downloaded]);
  if (missing.length > 0)
    throw new Error(`No package provides the libraries ${missing.join(', ')} of the guest's programs.`);
  return found;
}

/** @param {string} program */
function requireProgram(program) {
  const path = findProgram(program);
  if (!path) throw new Error(`${program} is not installed: install e2fsprogs, then try again.`);
  return path;
}

/**
 * @param {string} root
 * @param {string[]} candidates
 */
export function fileIn(root, candidates) {
  const path = candidates.map((candidate) => join(root, candidate)).find((file) => existsSync(file));
  if (!path)
    throw new Error(`A package of the distribution does not contain ${candidates[0]}, so the guest can't be built.`);
  return path;
}
