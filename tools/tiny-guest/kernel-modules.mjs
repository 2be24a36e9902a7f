import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { searchPath } from '../local/run-command.mjs';

/**
 * Without these the guest has no disk, no network, no agent and no power button.
 */
const REQUIRED = ['virtio_pci', 'virtio_blk', 'virtio_net', 'virtio_console', 'button', 'evdev'];

/** Other hardware that a machine may give the guest, as far as the kernel knows it, and the file systems of a seed. */
const WELCOME = [
  ...['virtio_scsi', 'virtio_balloon', 'virtio_rng', 'sd_mod', 'sr_mod', 'ata_piix', 'ata_generic', 'ahci'],
  ...['e1000', 'e1000e', 'xhci_pci', 'uhci_hcd', 'ehci_pci', 'usbhid', 'hid_generic'],
  ...['ext4', 'isofs', 'vfat', 'nls_cp437', 'nls_ascii', 'nls_iso8859_1', 'nls_utf8'],
];

/**
 * @typedef {object} ModuleSet
 * @property {Map<string, Buffer>} files the modules by name, uncompressed
 * @property {string} table shell functions: `chain_of MODULE` sets `chain` to what to load, in order; `drivers_of IDENTITY`
 *   calls `load` for each module that drives such a device
 */

/**
 * The modules that the guest needs, out of a kernel's folder of modules.
 * @param {string} folder `…/lib/modules/VERSION`
 * @returns {ModuleSet}
 */
export function collectModules(folder) {
  const paths = indexModules(folder);
  const builtin = builtinModules(folder);
  const lost = REQUIRED.filter((name) => !paths.has(name) && !builtin.has(name));
  if (lost.length > 0) throw new Error(`The kernel ${basename(folder)} has no ${lost.join(', ')}.`);

  /** @type {Map<string, Buffer>} */
  const files = new Map();
  const chains = [];
  const drivers = [];
  for (const name of [...REQUIRED, ...WELCOME]) {
    if (!paths.has(name)) continue;
    chains.push(`${name}) chain='${addWithDependencies(name, paths, files).join(' ')}' ;;`);
    const aliases = modinfo(/** @type {Buffer} */ (files.get(name)), 'alias');
    const patterns = aliases.filter((alias) => alias.includes(':') && /^[\w:.,*?[\]-]+$/.test(alias));
    if (patterns.length > 0) drivers.push(`case "$1" in ${patterns.join('|')}) load ${name} ;; esac`);
  }
  const table = [
    ...['chain_of() {', 'chain=', 'case "$1" in', ...chains, 'esac', '}'],
    ...['drivers_of() {', ...drivers, ':', '}'],
  ];
  return { files, table: `${table.join('\n')}\n` };
}

/**
 * @param {string} name
 * @param {Map<string, string>} paths
 * @param {Map<string, Buffer>} files
 * @returns {string[]} dependencies first
 */
function addWithDependencies(name, paths, files) {
  const path = paths.get(name);
  if (path === undefined) return []; // built in
  if (!files.has(name)) files.set(name, readModule(path));
  const needs = modinfo(/** @type {Buffer} */ (files.get(name)), 'depends').flatMap((list) =>
    list.split(',').filter(Boolean),
  );
  const chain = needs.flatMap((need) => addWithDependencies(normal(need), paths, files));
  return [...new Set([...chain, name])];
}

/** A module is called with `_` where its file may have `-`. @param {string} name */
const normal = (name) => name.replaceAll('-', '_');

/** @param {string} folder */
function indexModules(folder) {
  const files = readdirSync(join(folder, 'kernel'), { recursive: true, encoding: 'utf8' });
  const modules = files.filter((file) => /\.ko(\.xz|\.zst|\.gz)?$/.test(file)).sort();
  return new Map(modules.map((file) => [normal(basename(file).replace(/\.ko.*$/, '')), join(folder, 'kernel', file)]));
}

/** @param {string} folder */
function builtinModules(folder) {
  const list = join(folder, 'modules.builtin');
  const lines = existsSync(list) ? readFileSync(list, 'utf8').split('\n') : [];
  return new Set(lines.map((line) => normal(basename(line).replace(/\.ko$/, ''))));
}

/** Debian keeps modules as they are, Ubuntu packs them with zstd, Fedora with xz: busybox loads only plain ones. */
const UNPACKERS = { '.xz': 'xz', '.zst': 'zstd', '.gz': 'gzip' };

/** @param {string} path */
function readModule(path) {
  const unpacker = Object.entries(UNPACKERS).find(([ending]) => path.endsWith(ending))?.[1];
  if (!unpacker) return readFileSync(path);
  return execFileSync(unpacker, ['-dc', path], {
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, PATH: searchPath() },
  });
}

/**
 * The values of a key in a module's `.modinfo` section, which is a row of `key=value` ended by zero bytes.
 * @param {Buffer} module
 * @param {string} key
 * @returns {string[]}
 */
export function modinfo(module, key) {
  const start = Buffer.from(`\0${key}=`, 'latin1');
  const values = [];
  for (let at = module.indexOf(start); at >= 0; at = module.indexOf(start, at + 1)) {
    values.push(module.toString('latin1', at + start.length, module.indexOf(0, at + start.length)));
  }
  return values;
}
