import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from '../local/machine.mjs';
import { readElf } from './elf-libraries.mjs';

/** Where packages of the distributions have it. */
const PLACES = ['bin/busybox', 'usr/bin/busybox', 'usr/sbin/busybox', 'sbin/busybox'];

/**
 * The path of a statically linked busybox: the machine's own, or the one of the distribution's package.
 * @param {() => Promise<string>} unpack unpacks the package, and returns the folder
 * @returns {Promise<string>}
 */
export async function findBusybox(unpack) {
  const own = findProgram('busybox');
  if (own !== undefined && isStatic(own)) return own;
  const folder = await unpack();
  const path = PLACES.map((place) => join(folder, place)).find((file) => existsSync(file));
  if (!path) throw new Error(`The distribution's package of busybox does not contain ${PLACES[0]}.`);
  return path;
}

/** @param {string} program */
function isStatic(program) {
  const { needed, interpreter } = readElf(readFileSync(program));
  return needed.length === 0 && interpreter === undefined;
}
