import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { searchPath } from '../local/run-command.mjs';

/** The modules for disk, network, guest agent and power button. */
const REQUIRED = ['virtio_pci', 'virtio_blk', 'virtio_net', 'virtio_console', 'button', 'evdev'];

/** Modules for other virtual hardware, if the kernel has them, and for file systems of a seed. */
const OPTIONAL = [
  ...['virtio_scsi', 'virtio_balloon', 'virtio_rng', 'sd_mod', 'sr_mod', 'ata_piix', 'ata_generic', 'ahci'],
  ...['e1000', 'e1000e', 'xhci_pci', 'uhci_hcd', 'ehci_pci', 'usbhid', 'hid_generic'],
  ...['ext4', 'isofs', 'vfat', 'nls_cp437', 'nls_ascii', 'nls_iso8859_1', 'nls_utf8'],
];

/**
 * @typedef {object} ModuleSet
 * @property {Map<string, Buffer>} files uncompressed modules by name
 * @property {Map<string, string[]>} chains the modules to load for one, in order; none for those that are built in
 * @property {string} table shell functions: `chain_of MODULE` sets `chain` to the modules to load, in order;
 *   `drivers_of MODALIAS` calls `load` for each matching module
 */

/**
 * Collects the modules that a guest needs from a kernel's module folder. By default, those of the tiny guest.
 * @param {string} folder `…/lib/modules/VERSION`
 * @param {{ required: string[], optional: string[] }} [wanted]
 * @returns {ModuleSet}
 */
export function collectModules(folder, { required, optional } = { required: REQUIRED, optional: OPTIONAL }) {
  const paths = indexModules(folder);
  const builtin = builtinModules(folder);
  const missing = required.filter((name) => !paths.has(name) && !builtin.has(name));
  if (missing.length > 0) throw new Error(`The kernel ${basename(folder)} has no module ${missing.join(', ')}.`);

  /** @type {Map<string, Buffer>} */
  const files = new Map();
  /** @type {Map<string, string[]>} */
  const chains = new Map();
  const drivers = [];
  for (const name of [...required, ...optional]) {
    if (!paths.has(name)) continue;
    chains.set(name, addWithDependencies(name, paths, files));
    const aliases = modinfo(/** @type {Buffer} */ (files.get(name)), 'alias');
    const patterns = aliases.filter((alias) => alias.includes(':') && /^[\w:.,*?[\]-]+$/.test(alias));
    if (patterns.length > 0) drivers.push(`case "$1" in ${patterns.join('|')}) load ${name} ;; esac`);
  }
  const cases = [...chains].map(([name, chain]) => `${name}) chain='${chain.join(' ')}' ;;`);
  const table = [
    ...['chain_of() {', 'chain=', 'case "$1" in', ...cases, 'esac', '}'],
    ...['drivers_of() {', ...drivers, ':', '}'],
  ];
  return { files, chains, table: `${table.join('\n')}\n` };
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
  const chain = needs.flatMap((need) => addWithDependencies(normalizeName(need), paths, files));
  return [...new Set([...chain, name])];
}

/** Module names use `_` where file names may use `-`. @param {string} name */
const normalizeName = (name) => name.replaceAll('-', '_');

/** @param {string} folder */
function indexModules(folder) {
  const files = readdirSync(join(folder, 'kernel'), { recursive: true, encoding: 'utf8' });
  const modules = files.filter((file) => /\.ko(\.xz|\.zst|\.gz)?$/.test(file)).sort();
  return new Map(
    modules.map((file) => [normalizeName(basename(file).replace(/\.ko.*$/, '')), join(folder, 'kernel', file)]),
  );
}

/** @param {string} folder */
function builtinModules(folder) {
  const list = join(folder, 'modules.builtin');
  const lines = existsSync(list) ? readFileSync(list, 'utf8').split('\n') : [];
  return new Set(lines.map((line) => normalizeName(basename(line).replace(/\.ko$/, ''))));
}

/** Ubuntu compresses modules with zstd, Fedora with xz; busybox loads only uncompressed ones. */
const DECOMPRESSORS = { '.xz': 'xz', '.zst': 'zstd', '.gz': 'gzip' };

/** @param {string} path */
function readModule(path) {
  const decompressor = Object.entries(DECOMPRESSORS).find(([ending]) => path.endsWith(ending))?.[1];
  if (!decompressor) return readFileSync(path);
  return execFileSync(decompressor, ['-dc', path], {
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, PATH: searchPath() },
  });
}

/**
 * The values of a key in a module's `.modinfo` section, a sequence of zero-terminated `key=value` strings.
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
