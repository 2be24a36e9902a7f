import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from '../local/machine.mjs';
import { findBusybox } from '../tiny-guest/busybox.mjs';
import { collectModules } from '../tiny-guest/kernel-modules.mjs';
import { fileIn, findKernel, findLibraries } from '../tiny-guest/parts.mjs';
import { withFolders } from '../tiny-guest/rootfs.mjs';

/** Disks and ports. */
const REQUIRED = ['virtio_pci', 'virtio_blk', 'virtio_console'];

/** File systems and volumes. A file system whose module is missing can't be mounted. */
const OPTIONAL = [
  ...['ext4', 'xfs', 'btrfs', 'vfat', 'exfat', 'isofs', 'fuse', 'dm_mod', 'dm_snapshot', 'dm_mirror'],
  ...['nls_cp437', 'nls_ascii', 'nls_utf8'],
];

const FOLDERS = ['bin', 'lib', 'lib/modules', 'lib/modules/reader', 'lib/x86_64-linux-gnu', 'proc', 'sys', 'dev'];

/** Where packages of the distributions have the programs. */
const PROGRAMS = {
  perl: ['usr/bin/perl'],
  'ntfs-3g': ['bin/ntfs-3g', 'usr/bin/ntfs-3g'],
  lvm: ['sbin/lvm', 'usr/sbin/lvm'],
};

/**
 * @typedef {object} ReaderParts
 * @property {string} kernel
 * @property {string} kernelVersion
 * @property {string} modules the module folder of the kernel
 * @property {string} busybox
 * @property {Record<string, string>} programs other programs, by name in the guest
 * @property {Map<string, string>} libraries their libraries, by name
 * @property {string[]} versions the package files of the components
 */

/**
 * Finds or downloads the components. Prefers the programs of this machine.
 * @param {import('../tiny-guest/package-source.mjs').PackageSource} source
 * @param {string} work a folder for unpacked packages
 * @returns {Promise<ReaderParts>}
 */
export async function collectReaderParts(source, work) {
  /** @type {string[]} */
  const versions = [];
  /** @param {string} name @param {string[]} packages */
  const unpack = async (name, packages) => {
    const target = join(work, name);
    versions.push(...(await source.unpack(packages, target)));
    return target;
  };
  const kernel = await findKernel(source, unpack);
  const busybox = await findBusybox(() => unpack('busybox', source.packages.busybox));
  const own = Object.keys(PROGRAMS).map((name) => [name, findProgram(name)]);
  const folder = own.every(([, path]) => path) ? undefined : await unpack('reader', source.packages.reader);
  const programs = Object.fromEntries(
    Object.entries(PROGRAMS).map(([name, places]) => [
      name,
      folder === undefined ? String(findProgram(name)) : fileIn(folder, places),
    ]),
  );
  const libraries = await findLibraries(source, unpack, work, Object.values(programs), source.packages.reader);
  return { ...kernel, busybox, programs, libraries, versions: versions.sort() };
}

/**
 * All entries of the initial RAM disk.
 * @param {ReaderParts} parts
 */
export function readerEntries({ modules, busybox, programs, libraries }) {
  const { files, chains } = collectModules(modules, { required: REQUIRED, optional: OPTIONAL });
  const table = [...chains].map(([name, chain]) => `${name} ${chain.join(' ')}\n`).join('');
  /** @param {string} path @param {Buffer} data @param {number} [mode] */
  const file = (path, data, mode = 0o644) => ({ path, mode, data });
  const entries = [
    file('init', readFileSync(join(import.meta.dirname, 'rootfs/init')), 0o755),
    file('bin/busybox', readFileSync(busybox), 0o755),
    ...Object.entries(programs).map(([name, from]) => file(`bin/${name}`, readFileSync(from), 0o755)),
    ...[...libraries].map(([name, from]) => file(`lib/x86_64-linux-gnu/${name}`, readFileSync(from), 0o755)),
    ...[...files].map(([name, data]) => file(`lib/modules/reader/${name}.ko`, data)),
    file('lib/modules/reader/chains', Buffer.from(table)),
    // The loader expects lib64, and libraries of Fedora are there.
    { path: 'lib64', mode: 0o777, link: 'lib/x86_64-linux-gnu' },
    { path: 'usr', mode: 0o755 },
    { path: 'usr/lib', mode: 0o777, link: '../lib' },
    { path: 'usr/lib64', mode: 0o777, link: '../lib/x86_64-linux-gnu' },
  ];
  return withFolders(entries, FOLDERS);
}
