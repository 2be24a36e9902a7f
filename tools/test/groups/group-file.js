import { createHash } from 'node:crypto';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The function by which a group file loads a spec file, as a property of the global object. */
export const LOAD = Symbol.for('headgate.load-spec-file');

/** @param {string} rootDir of the project @returns the describe block that a spec file has in a group */
export const nameOf = (rootDir, path) => relative(rootDir, path);

/**
 * Writes the module that Jest runs in place of several spec files.
 * @param {string} folder of Jest's cache
 * @param {string} rootDir of the project
 * @param {string[]} paths of the spec files
 * @returns {string} its path
 */
export function writeGroupFile(folder, rootDir, paths) {
  const lines = paths.map((path) => {
    const [name, url] = [nameOf(rootDir, path), pathToFileURL(path).href].map((text) => JSON.stringify(text));
    return `await load(${name}, () => import(${url}), import.meta.jest);\n`;
  });
  const text = `const load = globalThis[Symbol.for(${JSON.stringify(LOAD.description)})];\n${lines.join('')}`;
  const groups = join(folder, 'headgate-groups');
  mkdirSync(groups, { recursive: true });
  const file = join(groups, `${createHash('sha256').update(text).digest('hex').slice(0, 24)}.mjs`);
  // Another run may read the same file now.
  const written = `${file}.${process.pid}`;
  writeFileSync(written, text);
  renameSync(written, file);
  return file;
}
