import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { collectModules } from './kernel-modules.mjs';

/** @typedef {import('./cpio.mjs').ArchiveEntry} ArchiveEntry */

const OWN_FILES = join(import.meta.dirname, 'rootfs');

/** The documented default account; a cloud-init seed may change its password or lock it. root is locked. */
export const DEFAULT_USER = 'headgate';
export const DEFAULT_PASSWORD = 'headgate';

/** The crypt(3) hash of DEFAULT_PASSWORD: `openssl passwd -6 -salt headgate headgate`. */
const DEFAULT_HASH =
  '$6$headgate$kNnzx8FNqxehxX.tU.tamh0yKkfkyy9Or0pbM7I98qQdgfR.I.3Gc2hMzUWQkxPBL6mLfMOTmiwWCEosM.ywF.';

/** A hash that matches no password. With a plain `!`, busybox login fails with "bad salt". */
const LOCKED_HASH = '$6$locked$!';

const USER_ID = 1000;

const FOLDERS = [
  ...['bin', 'lib', 'lib/modules', 'lib/modules/tiny', 'lib/x86_64-linux-gnu', 'usr', 'usr/lib', 'usr/local'],
  ...['etc', 'var', 'var/lib', 'var/log', 'home', 'proc', 'sys', 'dev', 'run', 'new'],
];

/**
 * All entries of the guest's file system, which is also its initial RAM disk.
 * @param {import('./parts.mjs').Parts} parts
 * @param {string} version
 * @returns {ArchiveEntry[]}
 */
export function rootfsEntries(parts, version) {
  const modules = collectModules(parts.modules);
  const entries = [
    ...ownFiles(),
    ...Object.entries(settings(version)).map(([path, text]) => file(path, text, path === 'etc/shadow' ? 0o600 : 0o644)),
    { path: 'bin/busybox', mode: 0o755, data: readFileSync(parts.busybox) },
    ...Object.entries(parts.programs).map(([name, from]) => ({
      path: `bin/${name}`,
      mode: 0o755,
      data: readFileSync(from),
    })),
    ...[...parts.libraries].map(([name, from]) => ({
      path: `lib/x86_64-linux-gnu/${name}`,
      mode: 0o755,
      data: readFileSync(from),
    })),
    ...[...modules.files].map(([name, data]) => ({ path: `lib/modules/tiny/${name}.ko`, mode: 0o644, data })),
    file('lib/modules/tiny/table.sh', modules.table),
    // All programs are in one folder with several names. The loader expects lib64.
    ...['sbin'].map((path) => ({ path, mode: 0o777, link: 'bin' })),
    ...['usr/bin', 'usr/sbin'].map((path) => ({ path, mode: 0o777, link: '../bin' })),
    { path: 'lib64', mode: 0o777, link: 'lib/x86_64-linux-gnu' },
    { path: 'var/run', mode: 0o777, link: '../run' },
    { path: 'root', mode: 0o700 },
    { path: 'tmp', mode: 0o1777 },
    { path: `home/${DEFAULT_USER}`, mode: 0o755, owner: USER_ID },
    { path: 'data', mode: 0o755, owner: USER_ID },
  ];
  return withFolders(entries);
}

/** @param {string} path @param {string} text @param {number} [mode] */
const file = (path, text, mode = 0o644) => ({ path, mode, data: Buffer.from(text) });

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

/** @param {string} version */
const settings = (version) => ({
  'etc/headgate-release': `${version}\n`,
  'etc/os-release': `ID=headgate-tiny\nNAME="Headgate tiny guest"\nPRETTY_NAME="Headgate tiny guest ${version}"\nVERSION="${version}"\nVERSION_ID="${version}"\n`,
  'etc/hostname': 'tiny\n',
  'etc/hosts': '127.0.0.1\tlocalhost\n127.0.1.1\ttiny\n',
  'etc/issue': `\nHeadgate tiny guest. Log in as ${DEFAULT_USER}, password ${DEFAULT_PASSWORD}.\n\n`,
  'etc/passwd': `root:x:0:0:root:/root:/bin/sh\n${DEFAULT_USER}:x:${USER_ID}:${USER_ID}:Headgate:/home/${DEFAULT_USER}:/bin/sh\n`,
  'etc/group': `root:x:0:\ntty:x:5:\n${DEFAULT_USER}:x:${USER_ID}:\n`,
  'etc/shadow': `root:${LOCKED_HASH}:19000:0:99999:7:::\n${DEFAULT_USER}:${DEFAULT_HASH}:19000:0:99999:7:::\n`,
  'etc/shells': '/bin/sh\n',
  'etc/nsswitch.conf': 'passwd: files\ngroup: files\nshadow: files\nhosts: files dns\n',
  'usr/lib/headgate/default-hash': DEFAULT_HASH,
  'usr/lib/headgate/locked-hash': LOCKED_HASH,
});

/**
 * Sorts entries so that folders precede their contents.
 * @param {ArchiveEntry[]} entries
 * @param {string[]} [folders] by default, those of the tiny guest
 */
export function withFolders(entries, folders = FOLDERS) {
  const known = new Map(folders.map((path) => [path, /** @type {ArchiveEntry} */ ({ path, mode: 0o755 })]));
  for (const entry of entries) {
    const steps = entry.path.split('/').slice(0, -1);
    steps.forEach((_, index) => {
      const path = steps.slice(0, index + 1).join('/');
      if (!known.has(path)) known.set(path, { path, mode: 0o755 });
    });
    known.set(entry.path, entry);
  }
  return [...known.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}
