import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from '../local/machine.mjs';
import { librariesOf, readElf } from './elf-libraries.mjs';

/**
 * What the guest is made of, as files on this machine.
 * @typedef {object} Parts
 * @property {string} kernel a bzImage
 * @property {string} kernelVersion
 * @property {string} modules its folder of modules
 * @property {string} busybox a static one
 * @property {Record<string, string>} programs what is not busybox, by name in the guest
 * @property {Map<string, string>} libraries what those need, by name
 * @property {{ syslinux: string, mbr: string, tools: string }} boot `tools` is the folder of the mtools
 * @property {string[]} versions the packages they came from
 */

/**
 * Finds or fetches the parts. What the machine already has is used when it is known to fit: a static busybox, a kernel
 * made for virtual machines.
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
  const ownBusybox = findProgram('busybox');
  const useOwn = ownBusybox !== undefined && isStatic(ownBusybox);
  const busybox = useOwn
    ? ownBusybox
    : fileIn(await unpack('busybox', packages.busybox), [
        'bin/busybox',
        'usr/bin/busybox',
        'usr/sbin/busybox',
        'sbin/busybox',
      ]);
  const agent = fileIn(await unpack('agent', packages.agent), ['usr/sbin/qemu-ga', 'usr/bin/qemu-ga']);
  const dropbear = fileIn(await unpack('ssh', packages.ssh), ['usr/sbin/dropbear', 'usr/bin/dropbear']);
  const boot = await unpack('boot', packages.boot);

  const programs = {
    'qemu-ga': agent,
    dropbear,
    ...Object.fromEntries(['resize2fs', 'e2fsck'].map((name) => [name, need(name)])),
  };
  const libraries = await findLibraries(source, unpack, work, Object.values(programs));
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
 * @param {import('./package-source.mjs').PackageSource} source
 * @param {(name: string, packages: string[]) => Promise<string>} unpack
 */
async function findKernel(source, unpack) {
  const own = kernelsIn('/').filter(({ kernelVersion }) => /cloud|kvm/.test(kernelVersion));
  if (own.length > 0) return /** @type {typeof own[0]} */ (own.at(-1));
  let folder;
  try {
    folder = await unpack('kernel', await source.kernelPackages());
  } catch (error) {
    // Without the network, the machine's own kernel does, though it starts more slowly.
    const any = kernelsIn('/').at(-1);
    if (any) return any;
    throw error;
  }
  const [unpacked] = kernelsIn(folder);
  if (!unpacked) throw new Error('The kernel package holds no kernel: the tiny guest cannot be built from it.');
  return unpacked;
}

/**
 * Kernels with their modules below a root, oldest first. One that this user may not read does not count.
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

/** @param {string} program */
function isStatic(program) {
  const { needed, interpreter } = readElf(readFileSync(program));
  return needed.length === 0 && interpreter === undefined;
}

/**
 * Libraries that the machine has fit, as the programs come from the same release; the others are fetched.
 * @param {import('./package-source.mjs').PackageSource} source
 * @param {(name: string, packages: string[]) => Promise<string>} unpack
 * @param {string} work
 * @param {string[]} programs
 */
async function findLibraries(source, unpack, work, programs) {
  const fetched = join(work, 'libraries');
  const atHand = librariesOf(programs, ['/']);
  if (atHand.missing.length === 0) return atHand.found;
  const names = await source.dependenciesOf([...source.packages.agent, ...source.packages.ssh]);
  await unpack('libraries', names);
  const { found, missing } = librariesOf(programs, ['/', fetched]);
  if (missing.length > 0) throw new Error(`The guest's programs need ${missing.join(', ')}, which no package brought.`);
  return found;
}

/** @param {string} program */
function need(program) {
  const path = findProgram(program);
  if (!path) throw new Error(`${program} is missing: install e2fsprogs, then try again.`);
  return path;
}

/**
 * @param {string} root
 * @param {string[]} candidates
 */
function fileIn(root, candidates) {
  const path = candidates.map((candidate) => join(root, candidate)).find((file) => existsSync(file));
  if (!path)
    throw new Error(`A package of the distribution lacks ${candidates[0]}: the tiny guest cannot be built from it.`);
  return path;
}
