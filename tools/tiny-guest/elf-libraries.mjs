import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const PT_LOAD = 1;
const PT_DYNAMIC = 2;
const PT_INTERP = 3;
const DT_NEEDED = 1n;
const DT_STRTAB = 5n;

/**
 * Reads the dependencies of a 64-bit little-endian ELF file: the names of its libraries, and the loader of a program.
 * @param {Buffer} elf
 * @returns {{ needed: string[], interpreter?: string }}
 */
export function readElf(elf) {
  if (elf.length < 64 || elf.readUInt32BE(0) !== 0x7f454c46 || elf[4] !== 2 || elf[5] !== 1) return { needed: [] };
  const segments = programHeaders(elf);
  const interp = segments.find(({ type }) => type === PT_INTERP);
  const dynamic = segments.find(({ type }) => type === PT_DYNAMIC);
  const interpreter = interp && textAt(elf, interp.offset);
  if (!dynamic) return { needed: [], interpreter };

  const entries = [];
  for (let at = dynamic.offset; at < dynamic.offset + dynamic.size; at += 16) {
    entries.push({ tag: elf.readBigInt64LE(at), value: Number(elf.readBigUInt64LE(at + 8)) });
  }
  const names = entries.find(({ tag }) => tag === DT_STRTAB)?.value ?? 0;
  // The string table is given by its virtual address.
  const segment = segments.find(
    ({ type, address, size }) => type === PT_LOAD && names >= address && names < address + size,
  );
  const offset = names - (segment?.address ?? 0) + (segment?.offset ?? 0);
  return {
    needed: entries.filter(({ tag }) => tag === DT_NEEDED).map(({ value }) => textAt(elf, offset + value)),
    interpreter,
  };
}

/** @param {Buffer} elf */
function programHeaders(elf) {
  const start = Number(elf.readBigUInt64LE(32));
  const size = elf.readUInt16LE(54);
  return Array.from({ length: elf.readUInt16LE(56) }, (_, index) => {
    const at = start + index * size;
    return {
      type: elf.readUInt32LE(at),
      offset: Number(elf.readBigUInt64LE(at + 8)),
      address: Number(elf.readBigUInt64LE(at + 16)),
      size: Number(elf.readBigUInt64LE(at + 32)),
    };
  });
}

/**
 * @param {Buffer} bytes
 * @param {number} at
 */
const textAt = (bytes, at) => bytes.toString('latin1', at, bytes.indexOf(0, at));

const LIBRARY_FOLDERS = ['lib/x86_64-linux-gnu', 'usr/lib/x86_64-linux-gnu', 'lib64', 'usr/lib64', 'lib', 'usr/lib'];

/**
 * All libraries that programs need, including transitive ones.
 * @param {string[]} programs paths of ELF files
 * @param {string[]} roots search roots in order: unpacked packages, then `/`
 * @returns {{ found: Map<string, string>, missing: string[] }} files by library name, including the loader
 */
export function librariesOf(programs, roots) {
  const folders = roots.flatMap((root) => LIBRARY_FOLDERS.map((folder) => join(root, folder)));
  /** @type {Map<string, string>} */
  const found = new Map();
  const missing = new Set();
  const pending = [...programs];
  for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
    const { needed, interpreter } = readElf(readFileSync(file));
    for (const name of interpreter ? [...needed, basename(interpreter)] : needed) {
      if (found.has(name) || missing.has(name)) continue;
      const library = folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
      if (!library) missing.add(name);
      else {
        found.set(name, library);
        pending.push(library);
      }
    }
  }
  return { found, missing: [...missing] };
}
