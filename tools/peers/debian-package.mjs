// Unpacks packages of Debian into a folder, without installing them: nothing of them starts, and no script of them runs.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram } from './run-program.mjs';

/**
 * A peer from a package that tools/peers/PINS/packages.txt pins by its version and its hash.
 * @param {string} name of the package
 * @param {{ pins: string, variable: string, check: string[] }} options `pins` is the folder
 * @returns {import('./install.mjs').Peer}
 */
export function debianPeer(name, { pins, variable, check }) {
  const file = join(import.meta.dirname, pins, 'packages.txt');
  return {
    variable,
    check,
    pins: [file],
    program: (folder) => join(folder, 'usr/bin', name),
    build: (folder, env) => {
      const { version, hash } = pinOf(readFileSync(file, 'utf8'), name);
      runProgram('apt-get', ['download', `${name}=${version}`], { cwd: folder, env });
      const archive = join(folder, readdirSync(folder).find((one) => one.endsWith('.deb')) ?? 'missing.deb');
      const found = createHash('sha256').update(readFileSync(archive)).digest('hex');
      if (found !== hash) throw new Error(`The package ${name} has the hash ${found}; ${hash} is pinned.`);
      runProgram('dpkg-deb', ['--extract', archive, folder], { env });
      rmSync(archive);
    },
  };
}

/**
 * @param {string} text of the pins
 * @param {string} name
 */
function pinOf(text, name) {
  const line = text.split('\n').find((one) => one.startsWith(`${name}=`)) ?? '';
  const [, version, hash] = /^[^=]+=(\S+) amd64 sha256:([0-9a-f]{64})$/.exec(line) ?? [];
  if (!version || !hash) throw new Error(`${name} has no line NAME=VERSION amd64 sha256:HASH in its packages.txt.`);
  return { version, hash };
}
