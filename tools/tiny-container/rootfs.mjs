import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';

/** @typedef {import('../tiny-guest/cpio.mjs').ArchiveEntry} ArchiveEntry */

const OWN_FILES = join(import.meta.dirname, 'rootfs');

const FOLDERS = ['bin', 'data', 'dev', 'etc', 'proc', 'root', 'run', 'sbin', 'srv', 'srv/www', 'sys', 'usr', 'var'];

/**
 * All entries of the image of Incus and LXD: its description, and the file system of the container.
 * @param {{ architecture: string, busybox: Buffer, programs: string[], version: string }} parts `architecture` is the
 *   kernel's name of it, `programs` are the names of the programs that busybox has
 * @returns {ArchiveEntry[]}
 */
export function imageEntries({ architecture, busybox, programs, version }) {
  const entries = [
    ...FOLDERS.map((path) => ({ path, mode: path === 'root' ? 0o700 : 0o755 })),
    { path: 'tmp', mode: 0o1777 },
    { path: 'bin/busybox', mode: 0o755, data: busybox },
    ...programs.filter((name) => name !== 'busybox').map((name) => link(`bin/${name}`, 'busybox')),
    link('usr/bin', '../bin'),
    link('usr/sbin', '../bin'),
    link('var/run', '../run'),
    ...Object.entries(settings(version)).map(([path, text]) => ({ path, mode: 0o644, data: Buffer.from(text) })),
    ...ownFiles(),
  ];
  return [
    { path: 'metadata.yaml', mode: 0o644, data: Buffer.from(metadata(architecture, version)) },
    { path: 'rootfs', mode: 0o755 },
    ...entries.sort((a, b) => (a.path < b.path ? -1 : 1)).map((entry) => ({ ...entry, path: `rootfs/${entry.path}` })),
  ];
}

/** @param {string} path @param {string} target */
const link = (path, target) => ({ path, mode: 0o777, link: target });

/** The scripts in `rootfs/`. A checkout may not preserve their modes: files that begin with `#!` are executable. */
function ownFiles() {
  const paths = readdirSync(OWN_FILES, { recursive: true, encoding: 'utf8' }).map((path) => join(OWN_FILES, path));
  return paths
    .filter((path) => statSync(path).isFile())
    .map((path) => {
      const data = readFileSync(path);
      return { path: relative(OWN_FILES, path), mode: data.toString('latin1', 0, 2) === '#!' ? 0o755 : 0o644, data };
    });
}

/** https://linuxcontainers.org/incus/docs/main/reference/image_format/, which LXD reads as well. */
const metadata = (/** @type {string} */ architecture, /** @type {string} */ version) => `architecture: ${architecture}
creation_date: 1
properties:
  description: Headgate tiny container ${version}
  os: Headgate
  release: ${version}
`;

/** @param {string} version */
const settings = (version) => ({
  'etc/os-release': `ID=headgate-tiny\nNAME="Headgate tiny container"\nPRETTY_NAME="Headgate tiny container ${version}"\nVERSION_ID="${version}"\n`,
  'etc/passwd': 'root:x:0:0:root:/root:/bin/sh\n',
  'etc/group': 'root:x:0:\ntty:x:5:\n',
  'etc/hosts': '127.0.0.1\tlocalhost\n',
  'etc/shells': '/bin/sh\n',
  'etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
});
